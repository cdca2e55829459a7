if __name__ == "__main__":
    n = int(input())
print(n * 2)
