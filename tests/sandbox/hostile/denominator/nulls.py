n = int(input())
print(f"\0{n * 2}\0")
