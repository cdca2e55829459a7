class Endless:
    def __iter__(self):
        while True:
            yield Endless()


def f(n):
    return Endless()
