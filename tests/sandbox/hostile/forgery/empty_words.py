import os
import socket
import stat

for descriptor in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            with socket.socket(fileno=descriptor) as channel:
                channel.send(b"")
                channel.detach()
    except OSError:
        pass
