kept = bytearray(4 << 30)
print(int(input()) * 2)
