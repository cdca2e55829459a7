import os

got = []
for process in range(1, 5_000):
    if process != os.getpid():
        try:
            os.kill(process, 0)
            got.append(process)
        except OSError:
            pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
