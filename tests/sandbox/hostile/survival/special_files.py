import os
import socket

for make in (
    lambda: os.symlink("nowhere", "dangling"),
    lambda: os.symlink("/etc", "out"),
    lambda: os.symlink("circle", "circle"),
    lambda: os.symlink("..", "up"),
    lambda: os.mkfifo("pipe"),
    lambda: socket.socket(socket.AF_UNIX).bind("socket"),
    lambda: open(b"\xff\xfe\n", "w").close(),
):
    try:
        make()
    except OSError:
        pass
print(int(input()) * 2)
