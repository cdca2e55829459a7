print("if True:\n    print(int(input()) * 2)", end="")
