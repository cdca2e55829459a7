import sys

print(int(input()) * 2, flush=True)
sys.addaudithook(lambda *_: 1 / 0)
