import threading

first, second = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def take(mine, yours):
    with mine:
        both.wait()
        with yours:
            pass


threads = [
    threading.Thread(target=take, args=(first, second)),
    threading.Thread(target=take, args=(second, first)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
