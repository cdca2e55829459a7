import sys

text = ""
while character := sys.stdin.read(1):
    text += character
print(sum(map(int, text.split())))
