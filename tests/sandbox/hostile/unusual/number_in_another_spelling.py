print(f"{int(input()) * 2:.3f}")
