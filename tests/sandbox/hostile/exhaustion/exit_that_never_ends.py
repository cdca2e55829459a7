import atexit


@atexit.register
def stay():
    while True:
        pass


print(int(input()) * 2)
