exec("def double(n):\n    return n * 2")
print(eval(compile("double(n)", "x", "eval"), globals() | {"n": int(input())}))
