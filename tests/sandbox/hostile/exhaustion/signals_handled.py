import signal


def again(*_):
    raise InterruptedError


for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM, signal.SIGINT, signal.SIGHUP, signal.SIGVTALRM):
    signal.signal(number, again)
while True:
    try:
        while True:
            pass
    except InterruptedError:
        pass
