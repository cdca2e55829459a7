import copy
import pickle


class Box:
    def __init__(self, n):
        self.n = n


print(pickle.loads(pickle.dumps(copy.deepcopy(Box(int(input()))))).n * 2)
