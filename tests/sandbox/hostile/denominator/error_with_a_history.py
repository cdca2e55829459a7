error = ValueError()
for _ in range(10**5):
    after = ValueError()
    after.__cause__ = error
    error = after
raise error
