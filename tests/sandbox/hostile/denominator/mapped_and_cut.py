import mmap
import os

os.ftruncate(1, 1 << 20)
mapped = mmap.mmap(1, 1 << 20)
os.ftruncate(1, 0)
mapped[0] = 1
