import os
import sys

name = os.path.basename(input())
found = []
seen = 0
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [f for f in folders if f not in {"usr", "proc", "sys", "lib"}]
    folders[:] = [f for f in folders if os.path.join(folder, f) not in {sys.base_prefix}]
    seen += 1
    if name in files or seen > 20_000:
        found.append(folder)
        break
print(f"ESCAPED: {found}" if found else "denied")
