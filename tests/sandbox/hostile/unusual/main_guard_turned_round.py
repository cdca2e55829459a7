def main():
    if "__main__" == __name__:
        print(int(input()) * 2)


main()
