import os
import threading

threading.Thread(target=threading.Event().wait).start()
print(int(input()) * 2, flush=True)
os._exit(0)
