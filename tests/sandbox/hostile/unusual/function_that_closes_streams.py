import sys


def f(n):
    sys.stdout.close()
    sys.stdin = sys.stdout = None
    return n * 2
