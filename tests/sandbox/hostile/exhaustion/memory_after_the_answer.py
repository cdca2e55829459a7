print(int(input()) * 2, flush=True)
kept = []
while True:
    kept.append(bytearray(1 << 20))
