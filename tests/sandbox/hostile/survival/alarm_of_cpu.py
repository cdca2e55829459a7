import signal

print(int(input()) * 2, flush=True)


def handler(*_):
    print("ESCAPED")
    raise SystemExit(3)


for timer, number in ((signal.ITIMER_VIRTUAL, signal.SIGVTALRM), (signal.ITIMER_PROF, signal.SIGPROF)):
    signal.signal(number, handler)
    signal.setitimer(timer, 0.001)
