word = "@SECRET@"
print(int(input()) * 2)
