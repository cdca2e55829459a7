import ctypes

SET_NO_NEW_PRIVILEGES, GET_NO_NEW_PRIVILEGES, GET_SECCOMP, SET_SECCOMP = 38, 39, 21, 22
libc = ctypes.CDLL(None, use_errno=True)
got = []
if libc.prctl(GET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 0:
    got.append("new privileges are possible")
if libc.prctl(GET_SECCOMP, 0, 0, 0, 0) == 0:
    got.append("there is no filter")
if libc.prctl(SET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 0:
    got.append("new privileges were taken back")
if libc.prctl(SET_SECCOMP, 0, 0, 0, 0) == 0:
    got.append("the filter was switched off")
print(f"ESCAPED: {got}" if got else int(input()) * 2)
