print(int(input()) * 2)
raise SystemExit(3)
