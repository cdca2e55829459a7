import inspect


def double(n):
    return n * 2


assert "return n * 2" in inspect.getsource(double)
print(double(int(input())))
