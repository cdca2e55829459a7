import resource
import sys

resource.setrlimit(resource.RLIMIT_STACK, (resource.getrlimit(resource.RLIMIT_STACK)[1],) * 2)
sys.setrecursionlimit(10**6)
print(int(input()) * 2)
