import sys

print(int(input()) * 2, file=sys.stderr)
