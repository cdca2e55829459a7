import decimal
import gc
import math
import os
import sys

right = (
    sys.getrecursionlimit() >= 1000
    and sys.argv == ["solution.py"]
    and decimal.getcontext().prec == 28
    and gc.isenabled()
    and os.environ.get("PATH")
    and sys.meta_path
    and len(str(10**5_000)) == 5_001
)
print(int(input()) * 2 if right else "ESCAPED")
