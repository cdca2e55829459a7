import time

while True:
    sum(range(100_000))
    time.sleep(0.01)
