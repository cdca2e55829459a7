// Overflows its stack, catches that, and overflows it again.
#include <csignal>
#include <csetjmp>
#include <cstdlib>
static sigjmp_buf again;
static void handle(int) { siglongjmp(again, 1); }
static int depth(int n) {
    volatile char frame[4096];
    frame[n % 4096] = 1;
    return depth(n + 1) + frame[0];
}
int main() {
    stack_t stack = {malloc(1 << 16), 0, 1 << 16};
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigsetjmp(again, 1);
    return depth(0);
}
