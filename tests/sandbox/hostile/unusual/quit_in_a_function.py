def main():
    try:
        print(int(input()) * 2)
        quit(0)
    finally:
        del main.__doc__


main()
