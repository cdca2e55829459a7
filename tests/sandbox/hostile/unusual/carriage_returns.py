print("n = int(input())\r\nif n:\r\n    print(n * 2, end='\\r\\n')\r", end="\n")
