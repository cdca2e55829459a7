import sys

print(sum(map(int, (sys.stdin.read() + sys.stdin.read()).split())))
