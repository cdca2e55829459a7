import os

try:
    for _ in range(400):
        os.mkdir("hostile-left")
        os.chdir("hostile-left")
except OSError:
    pass
print(int(input()) * 2)
