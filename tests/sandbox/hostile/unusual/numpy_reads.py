import sys

import numpy as np

print(int(np.fromstring(sys.stdin.read(), dtype=np.int64, sep=" ").sum()))
