import threading

threading.Thread(target=threading.Event().wait).start()
print(int(input()) * 2, flush=True)
