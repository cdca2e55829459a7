def f(n):
    return str(n * 2)
