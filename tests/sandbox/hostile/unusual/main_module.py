import __main__

n = int(input())
print(__main__.n * 2)
