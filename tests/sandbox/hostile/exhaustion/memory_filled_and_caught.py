kept = []
try:
    while True:
        kept.append(bytes(8 << 20))
except MemoryError:
    kept.clear()
print(int(input()) * 2)
