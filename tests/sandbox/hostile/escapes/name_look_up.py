import socket

try:
    print("ESCAPED:", socket.getaddrinfo("hostile.example.invalid", 80))
except OSError:
    print(int(input()) * 2)
