import os

path = input()
got = []
for number, (make, target) in enumerate((
    (os.symlink, path),
    (os.symlink, os.path.dirname(path)),
    (os.symlink, "/etc"),
    (os.link, path),
)):  # fmt: skip
    name = f"link-{number}"
    try:
        make(target, name)
        names = [name, f"{name}/passwd", f"{name}/{os.path.basename(path)}"]
    except OSError:
        continue
    for each in names:
        for mode in ("r", "a"):
            try:
                open(each, mode).close()
                got.append(each)
            except OSError:
                pass
print(f"ESCAPED: {got}" if got else "denied")
