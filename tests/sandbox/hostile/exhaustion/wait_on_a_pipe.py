import os

os.read(os.pipe()[0], 1)
