kept = []
while True:
    kept.append(bytearray(b"x" * 65_536))
