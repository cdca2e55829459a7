class Solution:
    def f(self, numbers):
        numbers.sort()
