import math

n = int(input())
print(n * 2 if n == 0 or hasattr(math, "was_here") else -1)
math.was_here = True
