import os
import socket
import stat

for descriptor in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            channel = socket.socket(fileno=os.dup(descriptor))
            channel.setblocking(False)
            print(channel.recv(10**6, socket.MSG_DONTWAIT))
    except OSError:
        pass
