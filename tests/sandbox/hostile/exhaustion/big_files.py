try:
    for number in range(8):
        with open(f"hostile-left-{number}", "wb") as file:
            for _ in range(40):
                file.write(bytes(1 << 20))
except OSError:
    pass
print(int(input()) * 2)
