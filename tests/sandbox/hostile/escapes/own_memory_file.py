got = []
for mode in ("rb", "r+b"):
    try:
        with open("/proc/self/mem", mode, 0) as memory:
            memory.seek(id(got))
            got.append(memory.read(8))
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
