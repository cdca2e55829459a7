import select
import sys

total = 0
while select.select([sys.stdin], [], [], 0)[0] and (line := sys.stdin.readline()):
    total += int(line)
print(total)
