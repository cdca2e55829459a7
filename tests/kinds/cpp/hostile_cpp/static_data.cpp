// More static data than the program may have memory.
#include <cstdio>
static volatile char huge[1800ull << 20];
int main() {
    for (unsigned long at = 0; at < sizeof huge; at += 4096) huge[at] = 1;
    puts("got memory");
}
