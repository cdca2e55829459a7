// Takes memory in every way that malloc does not.
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    for (unsigned long size = 1ul << 28;;) {
        void *page = mmap(nullptr, size, 3, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (page == MAP_FAILED) {
            if ((size /= 2) < 4096) break;
            continue;
        }
        for (unsigned long at = 0; at < size; at += 4096) static_cast<volatile char *>(page)[at] = 1;
    }
    puts("got memory");
}
