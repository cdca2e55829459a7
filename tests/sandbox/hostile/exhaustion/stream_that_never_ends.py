import sys


class Stream:
    def write(self, text):
        sys.__stdout__.write(text)

    def flush(self):
        while True:
            pass


sys.stdout = Stream()
print(int(input()) * 2)
