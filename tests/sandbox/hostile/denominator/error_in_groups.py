error = ValueError("\ud800")
for _ in range(2_000):
    error = BaseExceptionGroup("x" * 100, [error])
raise error
