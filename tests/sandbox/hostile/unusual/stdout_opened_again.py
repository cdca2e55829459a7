with open(1, "w") as out:
    out.write(str(int(input()) * 2))
