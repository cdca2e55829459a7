import os

print(int(input()) * 2, flush=True)
os.closerange(0, 1_024)
