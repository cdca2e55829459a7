import os

try:
    for _ in range(1_200):
        os.mkdir("hostile-left")
        os.chdir("hostile-left")
except OSError:
    pass
print(int(input()) * 2)
