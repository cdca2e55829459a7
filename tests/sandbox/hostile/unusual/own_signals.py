import signal


def late(*_):
    raise TimeoutError


signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    while True:
        pass
except TimeoutError:
    print(int(input()) * 2)
