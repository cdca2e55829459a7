import os
import socket
import stat

for descriptor in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, descriptor)
            for word in (b"", b"D", b"", b"R1", b"R%d" % os.getpid()):
                channel.send(word)
            channel.detach()
    except OSError:
        pass
