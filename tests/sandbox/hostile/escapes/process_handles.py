import ctypes
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
got = []
for process in (os.getppid(), int(input())):
    try:
        handle = os.pidfd_open(process)
        got.append(("pidfd_open", process))
        signal.pidfd_send_signal(handle, 0)
        got.append(("pidfd_send_signal", process))
        got.append(("pidfd_getfd", libc.syscall(438, handle, 0, 0)))
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else "denied")
