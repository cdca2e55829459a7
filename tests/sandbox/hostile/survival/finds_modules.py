import json
import math
import sys

found = [name for name in ("hostile_left", "collections.hostile") if name in sys.modules]
found += [module for module in (json, math, sys) if hasattr(module, "seen")]
try:
    import hostile_left

    found.append(hostile_left)
except ImportError:
    pass
print(f"ESCAPED: {found}" if found or math.sqrt(4) != 2 else int(input()) * 2)
