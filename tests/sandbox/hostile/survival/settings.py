import decimal
import gc
import locale
import os
import random
import sys
import warnings

print(int(input()) * 2, flush=True)
sys.setrecursionlimit(60)
sys.setswitchinterval(100)
sys.set_int_max_str_digits(640)
sys.argv = None
sys.path.clear()
sys.path_hooks.clear()
sys.meta_path.clear()
sys.modules.pop("math", None)
warnings.simplefilter("error")
decimal.getcontext().prec = 1
gc.disable()
random.seed(1)
os.umask(0o777)
os.chdir("/")
os.environ.clear()
sys.excepthook = sys.displayhook = sys.unraisablehook = None
