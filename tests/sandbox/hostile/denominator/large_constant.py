def never():
    return "x" * 10**9 * 10**9, (1,) * 10**9, 1 << 10**12, 10 ** 10**10


print(int(input()) * 2)
