import sys
import threading


class Sore:
    def __del__(self):
        raise ValueError


thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
Sore()
print("é\udcff", file=sys.stderr)
print(int(input()) * 2)
