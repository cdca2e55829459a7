import os

path = input()
got = []
for name, call in (
    ("chmod", lambda: os.chmod(path, 0o400)),
    ("chmod by folder", lambda: os.chmod(os.path.dirname(path), 0o700)),
    ("chown", lambda: os.chown(path, os.getuid(), os.getgid())),
    ("utime", lambda: os.utime(path, (0, 0))),
    ("utime now", lambda: os.utime(path)),
    ("setxattr", lambda: os.setxattr(path, "user.hostile", b"left")),
):
    try:
        call()
        got.append(name)
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else "denied")
