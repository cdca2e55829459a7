import os
import stat

got = []
for descriptor in range(3, 1_024):
    try:
        status = os.fstat(descriptor)
    except OSError:
        continue
    if stat.S_ISDIR(status.st_mode):
        if not os.path.samestat(status, os.stat(".")):
            got.append(descriptor)
    elif stat.S_ISREG(status.st_mode) and b"plan" b"ted" in os.pread(descriptor, 10**6, 0):
        got.append(descriptor)
print(f"ESCAPED: {got}" if got else int(input()) * 2)
