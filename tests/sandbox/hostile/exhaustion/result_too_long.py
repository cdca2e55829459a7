def f(n):
    return "x" * (8 << 20)
