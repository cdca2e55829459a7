import io
import os

lines = io.BytesIO(os.read(0, os.fstat(0).st_size)).readlines()
print(sum(map(int, lines)))
