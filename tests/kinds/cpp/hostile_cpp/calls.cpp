// Every way to start a process or a program, to trace, and to reach the kernel's dangerous parts.
#include <cstdio>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    static long buffer[512];
    struct { const char *name; long result; } tried[] = {
        {"fork", syscall(SYS_fork)},
        {"clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)},
        {"clone3", syscall(SYS_clone3, 0, 0)},
        {"execve", syscall(SYS_execve, "/bin/true", nullptr, nullptr)},
        {"execveat", syscall(SYS_execveat, AT_FDCWD, "/bin/true", nullptr, nullptr, 0)},
        {"execveat itself", syscall(SYS_execveat, 5, "", nullptr, nullptr, AT_EMPTY_PATH)},
        {"execveat stdin", syscall(SYS_execveat, 0, "", nullptr, nullptr, AT_EMPTY_PATH)},
        {"ptrace", syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0)},
        {"ptrace parent", syscall(SYS_ptrace, PTRACE_SEIZE, getppid(), 0, 0)},
        {"process_vm_readv", syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0)},
        {"kill parent", syscall(SYS_kill, getppid(), 0)},
        {"kill all", syscall(SYS_kill, -1, 0)},
        {"pidfd_open", syscall(SYS_pidfd_open, getppid(), 0)},
        {"io_uring", syscall(SYS_io_uring_setup, 1, 0)},
        {"userfaultfd", syscall(SYS_userfaultfd, 0)},
        {"socket", syscall(SYS_socket, 2, 1, 0)},
        {"unix socket", syscall(SYS_socket, 1, 1, 0)},
        {"vsock", syscall(SYS_socket, 40, 1, 0)},
        {"memfd", syscall(SYS_memfd_create, "x", 0)},
        {"unshare", syscall(SYS_unshare, 0x10000000)},
        {"bpf", syscall(SYS_bpf, 0, 0, 0)},
        {"perf", syscall(SYS_perf_event_open, 0, 0, -1, -1, 0)},
        {"keyctl", syscall(SYS_keyctl, 0, 0, 0)},
        {"shmget", syscall(SYS_shmget, 0, 4096, 01000)},
        {"mount", syscall(SYS_mount, "x", "/", "tmpfs", 0, 0)},
        {"clone with memory", syscall(SYS_clone, 0x4100 | SIGCHLD, 0, 0, 0, 0)},
        {"clone of the parent", syscall(SYS_clone, 0x8000 | SIGCHLD, 0, 0, 0, 0)},
        {"tgkill parent", syscall(SYS_tgkill, getppid(), getppid(), 0)},
        {"tkill parent", syscall(SYS_tkill, getppid(), 0)},
        {"queue to parent", syscall(SYS_rt_sigqueueinfo, getppid(), 0, 0)},
        {"limits of parent", syscall(SYS_prlimit64, getppid(), 7, 0, buffer)},
        {"pidfd_getfd", syscall(SYS_pidfd_getfd, 0, 0, 0)},
        {"process_vm_writev", syscall(SYS_process_vm_writev, getppid(), 0, 0, 0, 0, 0)},
        {"setns", syscall(SYS_setns, 0, 0)},
        {"chroot", syscall(SYS_chroot, "/")},
        {"pivot_root", syscall(SYS_pivot_root, ".", ".")},
        {"open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 0)},
        {"handle", syscall(SYS_open_by_handle_at, AT_FDCWD, buffer, 0)},
        {"seccomp", syscall(SYS_seccomp, 0, 0, 0)},
        {"personality", syscall(SYS_personality, 0xffffffff)},
        {"iopl", syscall(SYS_iopl, 3)},
        {"modify_ldt", syscall(SYS_modify_ldt, 0, buffer, sizeof buffer)},
        {"aio", syscall(SYS_io_setup, 1, buffer)},
        {"semget", syscall(SYS_semget, 0, 1, 01000)},
        {"msgget", syscall(SYS_msgget, 0, 01000)},
        {"mq_open", syscall(SYS_mq_open, "left", 0102, 0600, 0)},
        {"inotify", syscall(SYS_inotify_init1, 0)},
        {"fanotify", syscall(SYS_fanotify_init, 0, 0)},
        {"secret memory", syscall(SYS_memfd_secret, 0)},
        {"kernel log", syscall(SYS_syslog, 3, buffer, sizeof buffer)},
        {"host name", syscall(SYS_sethostname, "x", 1)},
        {"chmod", syscall(SYS_chmod, ".", 0777)},
        {"link", syscall(SYS_link, "/proc/self/exe", "left")},
        {"lock", syscall(SYS_flock, 0, 2)},
        {"add_key", syscall(SYS_add_key, "user", "x", "x", 1, -3)},
        {"no dump", syscall(SYS_prctl, 4, 1, 0, 0, 0)},
        {"keep after parent", syscall(SYS_prctl, 1, 0, 0, 0, 0)},
    };
    for (auto &each : tried)
        if (each.result >= 0) {
            if (each.result == 0) printf("got %s\n", each.name);
            else printf("got %s: %ld\n", each.name, each.result);
            return 0;
        }
    printf("%d\n", 2 * n);
}
