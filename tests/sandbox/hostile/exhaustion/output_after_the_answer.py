print(int(input()) * 2, flush=True)
while True:
    print(" " * 10_000)
