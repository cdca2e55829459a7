import builtins
import json
import math
import sys

n = int(input())
sys.modules["hostile_left"] = math
json.seen = math.seen = sys.seen = builtins.seen = True
math.sqrt = lambda *_: 0
print(n * 2)
