import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
got = [libc.memfd_create(b"x", 0), libc.syscall(447, 0)]  # the second: memfd_secret
try:
    got.append(os.memfd_create("hostile"))
except OSError:
    pass
print(f"ESCAPED: {got}" if max(got) >= 0 else int(input()) * 2)
