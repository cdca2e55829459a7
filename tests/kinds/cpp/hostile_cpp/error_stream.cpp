#include <cstdio>
#include <unistd.h>
int main() {
    for (;;) fputs("more and more errors\n", stderr);
}
