import fcntl
import os
import struct

try:
    descriptor = os.open("hostile-left", os.O_CREAT | os.O_RDWR)
    fcntl.ioctl(descriptor, 0x40086602, struct.pack("l", 0x10))  # FS_IMMUTABLE_FL
    print("ESCAPED")
except OSError:
    print(int(input()) * 2)
