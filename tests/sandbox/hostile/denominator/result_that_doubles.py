def f(n):
    pair = [n, n]
    for _ in range(100):
        pair = [pair, pair]
    return pair
