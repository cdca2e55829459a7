import ctypes
import os

ATTACH, SEIZE, DETACH = 16, 0x4206, 17
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
got = []
for process in (os.getppid(), int(input())):
    for request in (SEIZE, ATTACH):
        if libc.ptrace(request, process, 0, 0) == 0:
            got.append(process)
            libc.ptrace(DETACH, process, 0, 0)
print(f"ESCAPED: {got}" if got else "denied")
