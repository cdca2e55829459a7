def down(n):
    return down(n + 1)


down(int(input()))
