import os

while True:
    try:
        os.write(1, b"x" * 10_000)
    except OSError:
        pass
