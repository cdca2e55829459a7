import sys
import threading

sys.setrecursionlimit(10**6)
threading.stack_size(128 << 20)


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


def main():
    n = int(input())
    print(n * 2 if down(10**5) == 10**5 else "shallow")


thread = threading.Thread(target=main)
thread.start()
thread.join()
