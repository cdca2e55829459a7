// Names another program as its own interpreter, which the kernel would start in its place.
asm(".section .interp,\"a\"\n.string \"/usr/bin/env\"\n.text");
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    printf("%d\n", 2 * n);
}
