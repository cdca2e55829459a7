print("x = int(input())")
for n in range(90):
    print(" " * n + f"def f{n}(x=x):")
print(" " * 90 + "return x")
print("print(x * 2)")
