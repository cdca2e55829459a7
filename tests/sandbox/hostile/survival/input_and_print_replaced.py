import builtins
import sys

builtins.input = sys.stdin.readline
builtins.print = lambda *items, **_: sys.stdout.write(" ".join(map(str, items)) + "\n")
print(int(input()) * 2)
