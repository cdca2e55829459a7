import ctypes
import os

got = []
try:
    import _posixshmem

    _posixshmem.shm_open("/hostile-left", os.O_CREAT | os.O_RDWR, 0o666)
    got.append("shm_open")
except (ImportError, OSError):
    pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.sem_open(b"/hostile-left", os.O_CREAT, 0o666, 1):
    got.append("sem_open")
if libc.mq_open(b"/hostile-left", os.O_CREAT | os.O_RDWR, 0o666, None) >= 0:
    got.append("mq_open")
print(f"ESCAPED: {got}" if got else int(input()) * 2)
