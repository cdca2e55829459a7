n = int(input())
assert "\d" != n is not 3_000
print(n * 2)
