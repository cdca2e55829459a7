import io
import os

for name in ("write", "pwrite", "dup2", "lseek", "pread", "fstat", "chdir"):
    setattr(os, name, lambda *_: 0)
for name in ("TextIOWrapper", "FileIO", "BufferedWriter"):
    setattr(io, name, lambda *_, **__: io.StringIO())
