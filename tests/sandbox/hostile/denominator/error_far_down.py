import sys

sys.setrecursionlimit(10**6)


def down(n):
    if n == 0:
        raise ValueError
    down(n - 1)


down(3 * 10**4)
