// The 32-bit entry of the kernel, where a call's number means another call: 2 is fork.
#include <cstdio>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    long result;
    asm volatile("int $0x80" : "=a"(result) : "a"(2) : "memory", "r8", "r9", "r10", "r11");
    printf("got fork %ld\n", result);
}
