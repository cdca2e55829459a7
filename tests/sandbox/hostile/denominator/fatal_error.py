import faulthandler
import sys

faulthandler.enable(open("hostile-left", "w"))
import ctypes

ctypes.pythonapi.Py_FatalError(b"hostile")
