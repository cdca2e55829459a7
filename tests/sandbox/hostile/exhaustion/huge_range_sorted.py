class Slow:
    def __lt__(self, other):
        return sum(range(10**5)) < 0


print(sorted(Slow() for _ in range(10**5)))
