// Stops itself, so that it uses no time.
#include <csignal>
#include <cstdio>
#include <unistd.h>
int main() {
    for (;;) {
        kill(getpid(), SIGSTOP);
        pause();
    }
}
