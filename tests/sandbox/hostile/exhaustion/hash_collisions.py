print(len({n * (2**61 - 1) for n in range(10**5)}))
