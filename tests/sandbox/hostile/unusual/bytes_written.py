import sys

print(int(input()) * 2, end="", flush=True)
sys.stdout.buffer.write(b"\n")
