print("\ufeffprint(int(input()) * 2)")
