import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
got = []
for process in (os.getppid(), int(input()), 1):
    for name in ("user", "mnt", "pid", "net", "ipc"):
        try:
            descriptor = os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        if libc.setns(descriptor, 0) == 0:
            got.append((process, name))
print(f"ESCAPED: {got}" if got else "denied")
