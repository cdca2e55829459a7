from functools import cache

calls = []


@cache
def double(n):
    return n * 2


def f(n):
    calls.append(n)
    return double(n) if len(calls) == 1 else -1
