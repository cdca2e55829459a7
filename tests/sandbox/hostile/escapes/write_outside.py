import os

here = {os.path.realpath(os.getcwd())}
got = []
for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/run", "/", "/usr", "/usr/lib", "/dev",
               "/proc", "/sys/fs/cgroup", "..", "../.."):  # fmt: skip
    if os.path.realpath(folder) in here:
        continue
    path = os.path.join(folder, "hostile-left")
    for make in (lambda: open(path, "w").close(), lambda: os.mkdir(path), lambda: os.mkfifo(path)):
        try:
            make()
            got.append(path)
        except OSError:
            pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
