import atexit

print(int(input()) * 2, flush=True)


def again(left=50):
    if left:
        atexit.register(again, left - 1)


atexit.register(again)
