from concurrent.futures import ThreadPoolExecutor

kept = [open("numbers", "w"), ThreadPoolExecutor(2)]
kept[1].submit(print, int(input()) * 2)
