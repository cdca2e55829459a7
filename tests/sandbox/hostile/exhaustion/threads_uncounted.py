import _thread

lock = _thread.allocate_lock()
lock.acquire()
_thread.stack_size(64 << 10)
try:
    for _ in range(300):
        _thread.start_new_thread(lock.acquire, ())
except RuntimeError:
    pass
print(int(input()) * 2)
