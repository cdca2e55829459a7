import os

for descriptor in range(64):
    for size in (1 << 20, 3 << 20, 0, 2 << 20):
        try:
            os.ftruncate(descriptor, size)
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        except OSError:
            pass
