#include <cstdio>
#include <unistd.h>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    pid_t pid = vfork();
    if (pid == 0) _exit(0);
    if (pid > 0) puts("got vfork");
    else printf("%d\n", 2 * n);
}
