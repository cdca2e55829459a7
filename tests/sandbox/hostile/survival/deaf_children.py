import os
import signal

try:
    for _ in range(5):
        if os.fork() == 0:
            os.setpgid(0, 0)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            while True:
                signal.pause()
    print("ESCAPED")
except OSError:
    print(int(input()) * 2)
