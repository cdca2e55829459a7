import sys

first = int(input())
print(first + sum(map(int, sys.stdin.read().split())))
