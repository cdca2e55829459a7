class Node:
    def __init__(self):
        self.val, self.next = 1, self


class Tree:
    def __init__(self):
        self.val, self.left, self.right = 1, self, self


def f(n):
    return Node() if n % 2 else Tree()
