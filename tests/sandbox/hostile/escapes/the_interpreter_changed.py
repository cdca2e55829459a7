import os
import sys

got = []
for path in (os.__file__, sys.executable, os.path.dirname(os.__file__) + "/hostile_left.py", __file__):
    if path != __file__:
        for mode in ("r+b", "ab"):
            try:
                open(path, mode).close()
                got.append(path)
            except OSError:
                pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
