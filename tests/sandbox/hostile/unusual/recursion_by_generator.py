from types import GeneratorType


def bootstrap(f, stack=[]):
    def wrapped(*args):
        if stack:
            return f(*args)
        to = f(*args)
        while True:
            if type(to) is GeneratorType:
                stack.append(to)
                to = next(to)
            else:
                stack.pop()
                if not stack:
                    return to
                to = stack[-1].send(to)

    return wrapped


@bootstrap
def down(n):
    yield 0 if n == 0 else 1 + (yield down(n - 1))


n = int(input())
print(n * 2 if down(10**4) == 10**4 else "shallow")
