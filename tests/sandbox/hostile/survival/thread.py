import os
import threading


def scribble():
    while not os.fstat(1).st_size:  # until the answer is there
        pass
    while True:
        if not os.fstat(1).st_size:  # until it was taken away: now another test's
            os.write(1, b"ESCAPED\n")


threading.Thread(target=scribble, daemon=True).start()
print(int(input()) * 2, flush=True)
