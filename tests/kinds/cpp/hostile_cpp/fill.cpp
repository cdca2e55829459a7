#include <cstdio>
int main() {
    for (;;) puts("more and more output");
}
