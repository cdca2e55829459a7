import os
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
while True:
    os.write(1, b"x" * 10_000)
