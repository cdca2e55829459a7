print("\n".join(" " * n + "if 1:" for n in range(1_000)) + "\n" + " " * 1_000 + "pass")
