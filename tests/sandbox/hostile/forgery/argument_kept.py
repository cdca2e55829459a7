class Growing(list):
    def __iter__(self):
        self.append(len(self))
        return super().__iter__()


def f(n):
    return Growing([n])
