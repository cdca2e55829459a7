import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(100)
        os._exit(0)
    print("ESCAPED")
except OSError:
    print(int(input()) * 2)
