// The launcher: starts one compiled solution after another, each in a process that is locked in.
//
// The fork server starts it for each solution, see `inside.compiled_trial`. It is small, so that a
// process costs little. Its own descriptors are those below; standard input, output and error are
// the solution's. A process takes the filter on before it starts the solution. The filter passes
// that one call on to this program, which traces the process up to it, and then leaves it alone.
//
// Orders begin with a byte: run, wait for the end, set the arguments of later runs, and close
// standard input and output, which are pipes in a dialogue. Answers begin with a byte too.

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDERS = 3, ANSWERS = 4, PROGRAM = 5 };
enum { WORD = 16 };  // bytes of an answer on a start, as `messages.WORD_BYTES`
enum { MOST_INSTRUCTIONS = 4096, MOST_PLACES = 16, MOST_ARGUMENTS = 256, MOST_TEXT = 1 << 16 };

static struct sock_filter code[MOST_INSTRUCTIONS];
static uint32_t sizes[2], places[MOST_PLACES];
static char *arguments[MOST_ARGUMENTS + 1] = {(char *)"solution", nullptr};
static char *environment[] = {(char *)"PATH=/usr/bin:/bin", (char *)"LANG=C.UTF-8", nullptr};

static void read_all(void *target, size_t size) {
    char *at = static_cast<char *>(target);
    while (size) {
        ssize_t done = read(ORDERS, at, size);
        if (done <= 0) _exit(1);
        at += done;
        size -= static_cast<size_t>(done);
    }
}

static void answer(char kind, const void *data, size_t size) {
    char message[1 + 64];
    message[0] = kind;
    memcpy(message + 1, data, size);
    if (write(ANSWERS, message, size + 1) < 0) _exit(1);
}

static void tell_start(pid_t child) {
    char text[WORD - 1] = {};
    memcpy(text, &child, sizeof child);
    answer('P', text, sizeof text);
}

// Says which call failed: the number of the error as a byte, and the call's name.
static void complain(const char *what) {
    char text[WORD - 1] = {static_cast<char>(errno)};
    strncpy(text + 1, what, sizeof text - 2);
    answer('X', text, sizeof text);
}

static void fail(const char *what) {
    complain(what);
    _exit(1);
}

static bool stops(pid_t child, int signal_number, int event) {
    int status;
    return waitpid(child, &status, __WALL) == child && WIFSTOPPED(status) &&
           WSTOPSIG(status) == signal_number && status >> 16 == event;
}

[[noreturn]] static void become_solution(pid_t parent, int gate) {
    char word;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (gate >= 0 && read(gate, &word, 1) != 1) _exit(1);
    setsid();
    if (sizes[0]) {
        pid_t self = getpid();
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) fail("ptrace");
        kill(self, SIGSTOP);
        for (uint32_t n = 0; n < sizes[1]; ++n)
            memcpy(reinterpret_cast<char *>(code) + places[n], &self, sizeof(uint32_t));
        struct sock_fprog filter = {static_cast<unsigned short>(sizes[0]), code};
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter))
            fail("seccomp");
    }
    syscall(SYS_execveat, PROGRAM, "", arguments, environment, AT_EMPTY_PATH);
    fail("execveat");
    _exit(1);
}

// Starts a process and answers so, before that process can say anything itself.
static pid_t start() {
    int gate[2] = {-1, -1};
    if (!sizes[0] && pipe2(gate, O_CLOEXEC)) {
        complain("pipe");
        return 0;
    }
    pid_t self = getpid(), child = fork();
    if (child == 0) become_solution(self, gate[0]);
    if (child < 0) complain("fork");
    if (child > 0 && !sizes[0]) tell_start(child);
    if (!sizes[0]) {
        if (child > 0 && write(gate[1], "", 1) != 1) kill(child, SIGKILL);
        close(gate[0]);
        close(gate[1]);
    }
    if (child > 0 && sizes[0]) {
        bool begun = stops(child, SIGSTOP, 0) &&
                     !ptrace(PTRACE_SETOPTIONS, child, nullptr,
                             reinterpret_cast<void *>(PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL)) &&
                     !ptrace(PTRACE_CONT, child, nullptr, nullptr) &&
                     stops(child, SIGTRAP, PTRACE_EVENT_SECCOMP);
        if (begun) tell_start(child);
        if (!begun || ptrace(PTRACE_DETACH, child, nullptr, nullptr)) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, __WALL);
            complain("trace");
            return 0;
        }
    }
    return child > 0 ? child : 0;
}

static int64_t microseconds(const struct timeval &time) {
    return static_cast<int64_t>(time.tv_sec) * 1000000 + time.tv_usec;
}

static void wait_for(pid_t child) {
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, __WALL, &usage) != child) _exit(1);
    int64_t numbers[] = {status, usage.ru_maxrss * 1024L, microseconds(usage.ru_utime),
                         microseconds(usage.ru_stime)};
    answer('W', numbers, sizeof numbers);
}

static void read_arguments() {
    static char text[MOST_TEXT + 1];
    uint32_t size, count = 0;
    read_all(&size, sizeof size);
    if (size > MOST_TEXT) _exit(1);
    read_all(text, size);
    for (uint32_t at = 0; at < size && count < MOST_ARGUMENTS; at += strlen(text + at) + 1)
        arguments[count++] = text + at;
    arguments[count] = nullptr;
}

int main() {
    prctl(PR_SET_DUMPABLE, 0);
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int descriptor = ORDERS; descriptor <= PROGRAM; ++descriptor)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    read_all(sizes, sizeof sizes);
    if (sizes[0] > MOST_INSTRUCTIONS || sizes[1] > MOST_PLACES) _exit(1);
    read_all(places, sizes[1] * sizeof places[0]);
    read_all(code, sizes[0] * sizeof code[0]);
    answer('R', nullptr, 0);
    pid_t child = 0;
    for (char order; read(ORDERS, &order, 1) == 1;) {
        if (order == 'f') {
            child = start();
        } else if (order == 'a') {
            read_arguments();
        } else if (order == 'c') {
            close(0);
            close(1);
        } else {
            wait_for(child);
        }
    }
}
