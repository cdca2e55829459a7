import os
import signal

got = []
for process in (-1, -os.getppid(), -os.getpgid(os.getppid())):
    try:
        os.kill(process, signal.SIGKILL)
        got.append(process)
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
