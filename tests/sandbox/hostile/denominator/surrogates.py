import sys

sys.stdout.buffer.write("\ud800\udfff\udcff".encode("utf-8", "surrogatepass"))
print("\udcff\udc80")
