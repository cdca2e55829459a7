import datetime
import os
import platform
import time

time.sleep(0.001)
assert time.time() > 1.6e9 and time.perf_counter() > 0 and time.process_time() >= 0
datetime.datetime.now().astimezone()
time.localtime(), platform.system(), os.cpu_count(), os.getpid(), os.times()
print(int(input()) * 2)
