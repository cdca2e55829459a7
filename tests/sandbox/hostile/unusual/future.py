# -*- coding: utf-8 -*-
"""A docstring."""
from __future__ import annotations, division


def double(n: Undefined) -> AlsoUndefined:
    return n * 2


print(double(int(input())))
