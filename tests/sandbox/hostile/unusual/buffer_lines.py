import sys

total = 0
while line := sys.stdin.buffer.readline():
    total += int(line)
print(total)
