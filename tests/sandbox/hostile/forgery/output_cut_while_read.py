import os
import threading


def cut():
    while True:
        for descriptor in range(64):
            try:
                os.ftruncate(descriptor, 1 << 20)
                os.ftruncate(descriptor, 0)
            except OSError:
                pass


threading.Thread(target=cut, daemon=True).start()
print("x", flush=True)
