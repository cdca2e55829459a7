print("print(int(input()) * 2)\n# \0")
