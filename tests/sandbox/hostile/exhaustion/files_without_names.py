import os

kept = []
try:
    for number in range(40):
        file = open("hostile-left", "wb")
        kept.append(file)
        os.remove("hostile-left")
        file.write(bytes(1 << 20))
        file.flush()
except OSError:
    pass
print(int(input()) * 2)
