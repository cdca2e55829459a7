import os
import signal

got = []
for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
    try:
        os.kill(os.getppid(), number)
        got.append(number)
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
