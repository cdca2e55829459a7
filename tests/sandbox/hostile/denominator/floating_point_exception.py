import ctypes
import mmap

# ud2; hlt (privileged); a jump into nothing
code = [b"\x0f\x0b", b"\xf4", b"\x31\xc0\xff\xe0"][int(input()) % 3]
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
