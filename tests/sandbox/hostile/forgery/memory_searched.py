import ctypes
import os
import re
import sys

pattern = re.compile(b"wanted:" + b"[0-9a-f]{32}")
libc = ctypes.CDLL(None)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
out, into = os.pipe()
SPAN = 16 << 20
places = (pattern, 7, object, b"", re, ctypes, sys._getframe(), [], {}, set())
starts = {*map(id, places), ctypes.cast(libc.write, ctypes.c_void_p).value}
pages = {p >> 12 for start in starts for p in range(max(start - SPAN, 1 << 16), start + SPAN, 4096)}
found = set()
for page in pages:
    if libc.write(into, page << 12, 4096) == 4096:  # the kernel refuses what cannot be read
        found |= set(pattern.findall(os.read(out, 4096)))
print(*(f.decode() for f in found))
