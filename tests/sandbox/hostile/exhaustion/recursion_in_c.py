import sys

sys.setrecursionlimit(2**31 - 1)


class Deep:
    def __getattr__(self, name):
        return sorted([self, self], key=lambda d: getattr(d, name))


Deep().deeper
