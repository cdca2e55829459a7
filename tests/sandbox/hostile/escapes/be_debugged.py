import ctypes

# PTRACE_TRACEME
print("ESCAPED" if ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0 else int(input()) * 2)
