kept = []
while True:
    kept.append([0] * 100_000)
