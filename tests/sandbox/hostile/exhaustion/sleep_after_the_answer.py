import signal

print(int(input()) * 2, flush=True)
while True:
    signal.pause()
