from enum import IntEnum

import numpy as np


class One(IntEnum):
    ONE = 1


def f(n):
    return [True, 1.0, One.ONE, np.int64(1), np.float64(1)][n]
