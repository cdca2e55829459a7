import os
import signal

number = int(input())
if number not in (signal.SIGKILL, signal.SIGSTOP):
    signal.signal(number, signal.SIG_DFL)
os.kill(os.getpid(), number)
