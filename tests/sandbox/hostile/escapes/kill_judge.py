import ctypes
import os
import signal

judge = int(input())
libc = ctypes.CDLL(None, use_errno=True)
tgkill, tkill, queue = {"x86_64": (234, 200, 129), "aarch64": (131, 130, 138)}[os.uname().machine]
info = (ctypes.c_int * 32)(0, 0, -1)
got = []
for process in (judge, os.getppid()):
    # Signal 0 asks whether another would be delivered.
    for name, call in (
        ("kill", lambda: os.kill(process, 0)),
        ("killpg", lambda: os.killpg(process, 0)),
        ("tgkill", lambda: libc.syscall(tgkill, process, process, 0) or None),
        ("tkill", lambda: libc.syscall(tkill, process, 0) or None),
        ("sigqueue", lambda: libc.syscall(queue, process, 0, info) or None),
    ):
        try:
            if call() is None:
                got.append((name, process))
        except OSError:
            pass
print(f"ESCAPED: {got}" if got else "denied")
