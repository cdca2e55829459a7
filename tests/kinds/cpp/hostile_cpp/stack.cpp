#include <cstdio>
int depth(int n) {
    volatile char frame[4096];
    frame[n % 4096] = 1;
    return depth(n + 1) + frame[0];
}
int main() { printf("%d\n", depth(0)); }
