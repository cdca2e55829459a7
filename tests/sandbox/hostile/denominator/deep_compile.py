import ast
import sys

sys.setrecursionlimit(10**9)
for text in ("-" * 10**6 + "1", "+".join("1" * 10**6), "[" * 10**5, "x" + ".x" * 10**6, "lambda:" * 10**5 + "1"):
    try:
        ast.parse(text)
        compile(text, "x", "exec")
    except SyntaxError:
        pass
raise ValueError
