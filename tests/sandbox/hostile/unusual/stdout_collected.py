import atexit
import io
import sys

sys.stdout = collected = io.StringIO()
atexit.register(lambda: sys.__stdout__.write(collected.getvalue()))
print(int(input()) * 2)
