class Odd(Exception):
    __module__ = 7
    __qualname__ = "x" * 10**6
    __notes__ = [object(), 1]
    __traceback__ = property(lambda self: 1 / 0)
    args = property(lambda self: 1 / 0)


raise Odd
