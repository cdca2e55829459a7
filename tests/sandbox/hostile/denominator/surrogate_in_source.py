print("print(int(input()) * 2)  # \\ud800".encode().decode("unicode_escape"))
