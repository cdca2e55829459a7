import sys

sys.setrecursionlimit(2**31 - 1)


def down(n):
    return down(n + 1)


down(int(input()))
