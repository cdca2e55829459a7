print("\n".join(["0123456789" * 10] * int(input())))
