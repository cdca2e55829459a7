import os

print("ESCAPED" if os.path.exists("hostile-left") else int(input()) * 2)
open("hostile-left", "w").close()
