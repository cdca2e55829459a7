import os

os.write(1, b"%d\n" % (int(input()) * 2))
