import os

kept = bytearray(b"x" * (64 << 20))
os.abort()
