// Handlers for every signal, and a loop for ever.
#include <csignal>
int main() {
    for (int n = 1; n < 65; ++n) signal(n, SIG_IGN);
    for (volatile int n = 0;; n = n + 1) {}
}
