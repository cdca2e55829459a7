// Handlers that return for every signal, on a stack of their own; faults without end.
#include <csignal>
#include <cstdlib>
#include <csetjmp>
static sigjmp_buf again;
static void handle(int) { siglongjmp(again, 1); }
static volatile int *nowhere = nullptr;
int main() {
    stack_t stack = {malloc(1 << 16), 0, 1 << 16};
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (int n = 1; n < 65; ++n) sigaction(n, &action, nullptr);
    sigsetjmp(again, 1);
    *nowhere = 1;
}
