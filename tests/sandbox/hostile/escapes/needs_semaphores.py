from multiprocessing.dummy import Pool

with Pool(2) as pool:
    print(*pool.map(lambda n: n * 2, [int(input())]))
