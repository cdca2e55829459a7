import os

n = int(input())
print(n * 2 if n == 0 or os.path.exists("hostile-left") else -1)
open("hostile-left", "w").close()
