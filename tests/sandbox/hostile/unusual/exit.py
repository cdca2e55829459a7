print(int(input()) * 2)
exit()
