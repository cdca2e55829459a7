def f(n):
    exit(0)
