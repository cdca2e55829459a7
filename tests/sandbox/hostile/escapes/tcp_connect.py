import errno
import socket

got = []
for family, address in (
    (socket.AF_INET, ("127.0.0.1", 22)),
    (socket.AF_INET, ("127.0.0.1", 1)),
    (socket.AF_INET6, ("::1", 1)),
):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            got.append(address)
            connection.settimeout(0.2)
            connection.connect(address)
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
