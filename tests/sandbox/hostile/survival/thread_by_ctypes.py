import ctypes
import threading

print(int(input()) * 2, flush=True)
libc = ctypes.CDLL(None)
thread = ctypes.c_ulong()
# It sleeps in C: it needs no interpreter.
libc.pthread_create(ctypes.byref(thread), None, ctypes.cast(libc.sleep, ctypes.c_void_p), ctypes.c_void_p(1_000))
