try:
    kept = bytearray(4 << 30)
except MemoryError:
    kept = bytearray(1 << 20)
print(int(input()) * 2)
