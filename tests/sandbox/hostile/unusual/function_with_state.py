class Solution:
    seen = None

    def __init__(self):
        self.calls = 0

    def f(self, n):
        self.calls += 1
        self.seen = (self.seen or []) + [n]
        return n * 2 if self.calls == len(self.seen) == 1 else -1
