def f(n):
    return tuple([i, i * 2] for i in range(n))
