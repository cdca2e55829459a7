from decimal import Decimal
from fractions import Fraction


def f(n):
    return [float("nan"), Decimal("sNaN"), Fraction(1, 3), 1j, float("inf"), -0.0,
            Decimal("-Infinity"), Decimal("NaN")]  # fmt: skip
