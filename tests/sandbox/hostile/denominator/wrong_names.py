def g(n):
    return n * 2
