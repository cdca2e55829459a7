import ctypes
import os

with open("hostile-left", "w") as file:
    file.write("#!/bin/sh\necho ESCAPED\n")
try:
    os.chmod("hostile-left", 0o700)
except OSError:
    pass
number = {"x86_64": 322, "aarch64": 281}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)
nothing = (ctypes.c_char_p * 1)(None)
libc.syscall(number, -100, b"hostile-left", nothing, nothing, 0)  # execveat
try:
    os.execv("./hostile-left", ["x"])
except OSError:
    print(int(input()) * 2)
