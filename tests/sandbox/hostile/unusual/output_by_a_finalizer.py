class Box:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print(self.n * 2)


kept = Box(int(input()))
