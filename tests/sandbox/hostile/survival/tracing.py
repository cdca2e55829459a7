import sys

clean = sys.gettrace() is sys.getprofile() is None
print(int(input()) * 2 if clean else "ESCAPED", flush=True)


def spy(frame, event, argument):
    return spy


sys.settrace(spy)
sys.setprofile(spy)
