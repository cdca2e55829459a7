print("x = " + "+".join(["a"] * 10**5))
