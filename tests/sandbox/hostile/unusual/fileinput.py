import fileinput

print(sum(map(int, fileinput.input())))
