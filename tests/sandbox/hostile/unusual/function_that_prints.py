import sys


def f(n):
    print("debug:", n)
    print("debug:", n, file=sys.stderr)
    return n * 2
