// Leaves folders without rights, deep ones, links and pipes, and removes its own folder.
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    if (access("left", F_OK) == 0) return puts("got what an earlier test left"), 0;
    char folder[4096] = "";
    if (!getcwd(folder, sizeof folder)) return puts("got no folder"), 0;
    for (int depth = 0; depth < 300; ++depth)
        if (mkdir("left", 0700) || chdir("left")) break;
    mkfifo("pipe", 0600);
    symlink("/", "link");
    chdir(folder);
    mkdir("locked", 0);
    rmdir(folder);
    printf("%d\n", 2 * n);
}
