import re

print(re.match(r"(a+)+$", "a" * 50 + "b"))
