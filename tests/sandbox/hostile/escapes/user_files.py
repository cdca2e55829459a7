got = []
for path in (
    "/etc/passwd",
    "/etc/shadow",
    "/etc/hostname",
    "/etc/machine-id",
    "/etc/ssh/ssh_config",
    "/root/.bashrc",
    "/root/.profile",
    "/var/lib/dpkg/status",
    "/var/log/dpkg.log",
):
    try:
        got.append(open(path, "rb").read(50))
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
