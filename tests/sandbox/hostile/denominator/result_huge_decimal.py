from decimal import Decimal


def f(n):
    return Decimal("1e999999999")
