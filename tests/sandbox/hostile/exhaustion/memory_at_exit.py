import atexit


@atexit.register
def grow():
    kept = []
    while True:
        kept.append(bytes(8 << 20))


print(int(input()) * 2)
