def f(n):
    return ["\ud800", "\0", "\n\r\u2028", "😀" * 1000, "\ud83d" + "\ude00"]
