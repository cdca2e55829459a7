import sys

n = int(input())
line = "0123456789" * 10 + "\n"
for _ in range(n // 10_000):
    sys.stdout.write(line * 10_000)
