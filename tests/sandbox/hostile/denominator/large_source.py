print("table = [" + ",".join(map(str, range(150_000))) + "]\nprint(table[int(input())] * 2)")
