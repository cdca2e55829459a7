import sys
import threading

threading.stack_size(64 << 10)
sys.setrecursionlimit(2**31 - 1)


def down():
    list(map(lambda _: down(), [0]))


thread = threading.Thread(target=down)
thread.start()
thread.join()
raise RecursionError  # where it was no crash
