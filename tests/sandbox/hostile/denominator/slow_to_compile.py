# What stands in a `finally` is compiled twice, and twice in itself.
for n in range(19):
    print(" " * n + "try: x")
    print(" " * n + "finally:")
print(" " * 19 + "x")
