import ctypes

print(int(input()) * 2, flush=True)
ctypes.string_at(0)
