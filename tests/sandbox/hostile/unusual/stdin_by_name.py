from sys import stdin, stdout

first = int(stdin.readline()[:-1])
stdout.write(str(first + sum(int(line) for line in stdin)))
