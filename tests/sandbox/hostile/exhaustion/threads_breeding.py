import threading


def breed():
    while True:
        threading.Thread(target=breed).start()


threading.stack_size(64 << 10)
breed()
