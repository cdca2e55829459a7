def f(n):
    def items():
        while True:
            pass
        yield n

    return items()
