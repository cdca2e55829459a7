// An output file that is long, and takes no room.
#include <cstdio>
#include <unistd.h>
#include <csignal>
int main() {
    signal(SIGXFSZ, SIG_IGN);
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (!ftruncate(1, 1ll << 40) || pwrite(1, "x", 1, 1ll << 40) > 0) return puts("got a hole"), 0;
    printf("%d\n", 2 * n);
}
