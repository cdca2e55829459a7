import sys

print("? ", end="", file=sys.stderr, flush=True)
print(int(input("")) * 2)
