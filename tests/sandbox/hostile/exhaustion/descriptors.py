import os

kept = []
try:
    while True:
        kept.append(os.dup(0))
except OSError:
    pass
for descriptor in kept:
    os.close(descriptor)
print(int(input()) * 2)
