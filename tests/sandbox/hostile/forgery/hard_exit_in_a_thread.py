import os
import threading

threading.Thread(target=os._exit, args=(0,)).start()
while True:
    pass
