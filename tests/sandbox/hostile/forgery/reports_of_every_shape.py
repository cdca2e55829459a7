import os
import stat

words = [b"", b"D", b"D" + b"[" * 100_000, b"D" + b"9" * 100_000, b"E{}", b"R", b"C{}", b"\xff\xfe",
         b'D{"status": {"a": [1]}}', b'D{"status": "exit", "code": 1e999}', b"x" * 200_000]  # fmt: skip
word = words[hash(input()) % len(words)]
for descriptor in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            for each in (word, *words):
                os.write(descriptor, each)
    except OSError:
        pass
