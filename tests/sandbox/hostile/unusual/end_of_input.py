total = 0
try:
    while True:
        total += int(input())
except EOFError:
    print(total)
