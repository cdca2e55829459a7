import ctypes
import mmap

print(int(input()) * 2, flush=True)
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# again: lseek(0, 1 << 60, SEEK_SET); goto again
code.write(b"\xb8\x08\0\0\0\x31\xff\x48\xbe\0\0\0\0\0\0\0\x10\x31\xd2\x0f\x05\xeb\xe9")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # it stays mapped when the module goes
libc = ctypes.CDLL(None)
thread = ctypes.c_ulong()
start = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(code)))
libc.pthread_create(ctypes.byref(thread), None, start, None)
