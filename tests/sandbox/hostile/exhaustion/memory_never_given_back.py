kept = []
while True:
    try:
        kept.append(bytes(1 << 20))
    except MemoryError:
        pass
