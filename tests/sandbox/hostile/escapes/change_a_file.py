import os

path = input()
got = []
for name, call in (
    ("write", lambda: open(path, "r+").write("ESCAPED")),
    ("append", lambda: open(path, "a").write("ESCAPED")),
    ("truncate", lambda: os.truncate(path, 3)),
    ("rename", lambda: os.rename(path, path + "-moved")),
    ("rename into its own folder", lambda: os.rename(path, "moved")),
    ("remove", lambda: os.remove(path)),
    ("sibling", lambda: open(path + "-hostile-left", "x").close()),
    ("folder", lambda: os.mkdir(path + "-hostile-left")),
    ("link", lambda: os.symlink("/", path + "-hostile-left")),
):
    try:
        call()
        got.append(name)
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else "denied")
