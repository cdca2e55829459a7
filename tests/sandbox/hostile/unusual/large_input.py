import sys

print(sum(map(len, sys.stdin)))
