def f(n):
    return n * 2


if __name__ == "__main__":
    raise SystemExit(f(int(input())))
