error = ValueError()
for _ in range(30_000):
    after = ValueError()
    after.__cause__ = error
    error = after
raise error
