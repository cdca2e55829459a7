import sys

sys.dont_write_bytecode = False
sys.path.insert(0, "")
try:
    with open("hostile_left.py", "w") as file:
        file.write("print('ESCAPED')")
    import hostile_left
    print("x")
except OSError:
    pass
sys.stdout.seek(0)
sys.stdout.truncate(0)
print(int(input()) * 2)
