class Key(str):
    __hash__ = object.__hash__
    __eq__ = object.__eq__


def f(n):
    return {Key("1"): 2, "1": 2}
