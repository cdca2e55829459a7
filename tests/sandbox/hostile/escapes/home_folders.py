import os
import sys

got = []
for folder in ("/root", "/home", "/etc", "/var", "/srv", "/opt", "/mnt", "/work", "/run"):
    try:
        names = os.listdir(folder)
    except OSError:
        continue
    for name in names:
        path = os.path.join(folder, name)
        # The interpreter may live in a home folder, the working directory anywhere.
        if not any(p.startswith(path) for p in (sys.base_prefix, os.getcwd())) and "ld.so" not in name:
            got.append(path)
print(f"ESCAPED: {got}" if got else int(input()) * 2)
