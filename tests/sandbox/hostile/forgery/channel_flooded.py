import os
import stat

while True:
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, b"x" * 1_000)
        except OSError:
            pass
