import ctypes

ctypes.CDLL(None)._exit(0)
