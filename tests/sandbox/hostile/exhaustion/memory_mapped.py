import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 16 << 20))
    for page in range(0, 16 << 20, 4096):
        kept[-1][page] = 1
