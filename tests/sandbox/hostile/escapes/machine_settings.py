import socket

try:
    socket.sethostname(socket.gethostname())
    print("ESCAPED")
except OSError:
    print(int(input()) * 2)
