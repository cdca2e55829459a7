class Endless:
    def tolist(self):
        return self


def f(n):
    return Endless()
