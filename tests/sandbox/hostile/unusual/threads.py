import queue
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

with ThreadPoolExecutor(4) as pool:
    doubled = [f.result() for f in as_completed([pool.submit(lambda: n * 2) for n in [int(input())]])][0]
done, box = queue.Queue(), threading.local()
box.value = 1
barrier = threading.Barrier(3)
for _ in range(2):
    threading.Thread(target=lambda: (barrier.wait(), done.put(hasattr(box, "value")))).start()
barrier.wait()
seen = done.get(), done.get()
timer = threading.Timer(0.001, done.put, (doubled,))
timer.start()
print(done.get() if seen == (False, False) else "shared")
