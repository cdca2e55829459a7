class Thorny:
    def __getattr__(self, name):
        raise KeyError(name)

    def __iter__(self):
        raise SystemExit(0)


def f(n):
    return Thorny()
