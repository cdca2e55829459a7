import os

for _ in range(1_000):
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        pass
print(int(input()) * 2)
