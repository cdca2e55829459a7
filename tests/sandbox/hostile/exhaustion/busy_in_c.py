print(sum(iter(int, 1)))
