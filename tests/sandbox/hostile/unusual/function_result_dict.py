from collections import Counter, OrderedDict, defaultdict


def f(n):
    kind = [Counter, OrderedDict, lambda d: defaultdict(int, d)][n % 3]
    return kind({str(n): n * 2})
