import os

got = []
for process in (os.getppid(), int(input()), 1):
    for part in ("mem", "environ", "maps", "cmdline", "stack", "root/etc/passwd", "cwd/pyproject.toml"):
        try:
            with open(f"/proc/{process}/{part}", "rb", 0) as file:
                got.append((part, b"" if part == "mem" else file.read(20)))
        except OSError:
            pass
    for part in ("fd", "task", "map_files", "cwd", "root"):
        try:
            got.append((part, os.listdir(f"/proc/{process}/{part}")))
        except OSError:
            pass
print(f"ESCAPED: {got}" if got else "denied")
