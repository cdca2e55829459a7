import threading
import time


def grow():
    kept = []
    while True:
        kept.append(bytearray(b"x" * (1 << 20)))


threading.Thread(target=grow).start()
time.sleep(1_000)
