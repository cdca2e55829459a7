import os

print(int(input()) * 2)
os._exit(0)
