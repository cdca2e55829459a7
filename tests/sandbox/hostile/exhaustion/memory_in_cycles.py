import gc

gc.disable()
while True:
    ring = [0] * 10_000
    ring.append(ring)
