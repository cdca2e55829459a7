import multiprocessing


def double(n):
    return n * 2


context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    print(pool.map(double, [int(input())])[0])
