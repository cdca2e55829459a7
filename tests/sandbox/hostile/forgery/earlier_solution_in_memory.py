import re

pattern = re.compile(b"wanted:" + b"[0-9a-f]{32}")
found = set()
for size in (64, 100, 200, 500, 1_000, 4_000, 65_536, 1 << 20):
    import ctypes

    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    kept = []
    for _ in range(200 if size < 10_000 else 8):
        kept.append(libc.malloc(size))  # not cleared: it holds what was there
        found |= set(pattern.findall(ctypes.string_at(kept[-1], size)))
print(*(word.decode() for word in found))
