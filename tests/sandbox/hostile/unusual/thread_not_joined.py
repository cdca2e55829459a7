import threading


def main():
    print(int(input()) * 2)


threading.Thread(target=main).start()
