import sys

with open("hostile_left.py", "w") as file:
    file.write("import sys\ndel sys.modules[__name__]\n")
sys.path.insert(0, ".")
sys.dont_write_bytecode = True
while True:
    try:
        import hostile_left
    except (ImportError, KeyError):
        pass
