for number in range(100):
    print(number)
