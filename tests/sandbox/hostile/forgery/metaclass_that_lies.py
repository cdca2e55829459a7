class Meta(type):
    __eq__ = lambda self, other: True
    __hash__ = lambda self: hash(str)
    __instancecheck__ = __subclasscheck__ = lambda self, other: True
    __name__ = property(lambda self: 1 / 0)


class Yes(metaclass=Meta):
    pass


def f(n):
    return Yes() if n % 2 else Yes
