import math

math.seen = getattr(math, "seen", []) + [input()]
print(*math.seen)
