print(f"  {int(input()) * 2}  \t\n\n\n")
