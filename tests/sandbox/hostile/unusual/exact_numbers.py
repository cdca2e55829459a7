from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
n = int(input())
assert len(str(10**5_000)) == 5_001 and int("9" * 5_000) % 10 == 9
print(int(Decimal(n) / 3 * 6 + Fraction(1, 2).numerator - Decimal(1)))
