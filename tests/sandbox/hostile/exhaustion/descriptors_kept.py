import os

try:
    while True:
        os.dup(0)
except OSError:
    pass
print(int(input()) * 2)
