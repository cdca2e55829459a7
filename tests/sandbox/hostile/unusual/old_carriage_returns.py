print("n = int(input())\rprint(n * 2)\r", end="")
