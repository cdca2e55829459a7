import sys

n = int(input())
print(n * 2)
if n % 2:
    sys.exit(0)
raise SystemExit
