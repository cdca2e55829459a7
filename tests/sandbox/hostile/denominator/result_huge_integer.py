def f(n):
    return 1 << 10**8
