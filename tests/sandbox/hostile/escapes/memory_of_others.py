import ctypes
import os


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(8)
here = Span(ctypes.addressof(buffer), 8)
there = Span(id(libc) & ~0xFFF, 8)  # it was forked: much lies where it lies there
got = []
for process in (os.getppid(), int(input())):
    for call in (libc.process_vm_readv, libc.process_vm_writev):
        if call(process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0:
            got.append(process)
print(f"ESCAPED: {got}" if got else "denied")
