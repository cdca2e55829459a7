import os

target = os.path.dirname(input())
here = os.getcwd()
try:
    os.rename(here, here + "-hostile-moved")
    os.symlink(target, here)
except OSError:
    pass
print("denied")
