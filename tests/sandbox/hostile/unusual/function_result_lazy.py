from collections import deque


def f(n):
    return [range(2), map(int, "01"), (i for i in range(2)), {0: 1, 1: 2}.keys(), deque([0, 1]), iter([0, 1])][n]
