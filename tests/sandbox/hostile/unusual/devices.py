import os
import random
import secrets

with open("/dev/null", "w") as nothing:
    print("noise", file=nothing)
assert open("/dev/null").read() == ""
assert len(open("/dev/urandom", "rb").read(8)) == len(os.urandom(8)) == len(secrets.token_bytes(8)) == 8
assert open("/dev/zero", "rb").read(4) == bytes(4)
random.SystemRandom().random()
print(int(input()) * 2)
