import os

try:
    descriptor = os.open("hostile-left", os.O_CREAT | os.O_RDWR)
    os.ftruncate(descriptor, 1 << 40)
except OSError:
    pass
print(int(input()) * 2)
