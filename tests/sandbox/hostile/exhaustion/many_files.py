try:
    for number in range(5_000):
        open(f"hostile-left-{number}", "w").close()
except OSError:
    pass
print(int(input()) * 2)
