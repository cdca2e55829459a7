import threading

threading.stack_size(64 << 10)
gate = threading.Event()
threads = []
try:
    for _ in range(300):
        thread = threading.Thread(target=gate.wait)
        thread.start()
        threads.append(thread)
except (RuntimeError, MemoryError):
    pass
gate.set()
for thread in threads:
    thread.join()
print(int(input()) * 2)
