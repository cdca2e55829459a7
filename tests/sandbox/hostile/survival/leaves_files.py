import os

for name in ("hostile-left", ".hostile-left", "hostile-left\n", "h" * 255):
    try:
        open(name, "w").write("planted")
    except OSError:
        pass
try:
    os.makedirs("a/b/c")
    open("a/b/c/hostile-left", "w").write("planted")
except OSError:
    pass
print(int(input()) * 2)
