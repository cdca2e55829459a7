import os

home = input()
got = []
for name in (".cache", ".cache/huggingface", ".cache/huggingface/datasets", ".cache/pip", ".local/share"):
    try:
        got.append(os.listdir(os.path.join(home, name)))
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else "denied")
