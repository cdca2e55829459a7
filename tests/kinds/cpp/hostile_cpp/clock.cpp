// Waits for ever by the processor's own counter, which no system call shows.
#include <cstdio>
#include <x86intrin.h>
int main() {
    unsigned long long start = __rdtsc();
    while (__rdtsc() - start < 1ull << 60) {}
    puts("got time");
}
