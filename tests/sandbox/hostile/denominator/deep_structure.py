import pickle
import sys
import threading

sys.setrecursionlimit(10**9)
threading.stack_size(256 << 10)
nested = []
for _ in range(10**5):
    nested = [nested]
thread = threading.Thread(target=pickle.dumps, args=(nested,))
thread.start()
thread.join()
raise RecursionError  # where it was no crash
