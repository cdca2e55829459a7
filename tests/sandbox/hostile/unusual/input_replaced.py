import io
import os
import sys


class Fast(io.IOBase):
    def __init__(self, file):
        self.descriptor = file.fileno()
        self.buffer = io.BytesIO()
        self.write = self.buffer.write

    def read(self):
        while data := os.read(self.descriptor, 8192):
            self.buffer.write(data)
        return self.buffer.getvalue()

    def flush(self):
        os.write(self.descriptor, self.buffer.getvalue())
        self.buffer.truncate(0), self.buffer.seek(0)


sys.stdin, sys.stdout = Fast(sys.stdin), Fast(sys.stdout)
numbers = iter(sys.stdin.read().split())
input = lambda: next(numbers)
print = lambda *items: sys.stdout.write(b" ".join(str(i).encode() for i in items) + b"\n")
print(int(input()) + sum(int(n) for n in numbers))
sys.stdout.flush()
