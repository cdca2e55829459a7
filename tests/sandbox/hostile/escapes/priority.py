import os

got = []
for name, call in (
    ("nice", lambda: os.nice(-5)),
    ("other", lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)),
    ("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    ("affinity", lambda: os.sched_setaffinity(os.getppid(), {0})),
):
    try:
        call()
        got.append(name)
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
