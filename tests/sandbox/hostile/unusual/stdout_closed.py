import sys

print(int(input()) * 2)
sys.stdout.close()
sys.stderr.close()
