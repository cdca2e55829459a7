while True:
    try:
        input("? " * 10_000)
    except EOFError:
        pass
