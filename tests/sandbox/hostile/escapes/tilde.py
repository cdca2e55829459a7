import os

got = []
home = input()
for folder in (home, os.path.expanduser("~root"), os.path.expanduser("~")):
    for name in (".ssh", ".aws", ".config", ".cache", ".netrc", ".bash_history", ".bashrc", ".gitconfig"):
        try:
            got += [os.path.join(folder, name)] if os.open(os.path.join(folder, name), os.O_RDONLY) else []
        except OSError:
            pass
try:
    import pwd

    got += [entry.pw_dir for entry in pwd.getpwall()]
except (ImportError, OSError, KeyError):
    pass
print(f"ESCAPED: {got}" if got else "denied")
