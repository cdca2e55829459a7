import os
import sqlite3
import tempfile

n = int(input())
with open("numbers.txt", "w") as file:
    print(n, file=file)
with tempfile.NamedTemporaryFile("w+") as file, tempfile.TemporaryDirectory() as folder:
    file.write(open("numbers.txt").read())
    file.seek(0)
    n = int(file.read())
    open(os.path.join(folder, "x"), "w").close()
with sqlite3.connect(":memory:") as base:
    n = base.execute("select ? * 2", (n,)).fetchone()[0]
os.remove("numbers.txt")
print(n)
