import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 16 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
    kept[-1].write(b"x" * (16 << 20))
