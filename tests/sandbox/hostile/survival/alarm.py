import signal

print(int(input()) * 2, flush=True)
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.setitimer(signal.ITIMER_REAL, 0.02)
