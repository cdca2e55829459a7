import os

os.mkdir("d")
os.mkdir("d/e", 0)
try:
    os.makedirs("a/b/c", exist_ok=True)
    open("a/b/hostile-left", "w").close()
    for folder in ("a/b/c", "a/b", "a"):
        os.chmod(folder, 0)
except OSError:
    pass
print(int(input()) * 2)
