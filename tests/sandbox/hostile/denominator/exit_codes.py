class Mute:
    def __str__(self):
        raise SystemExit(0)


codes = [2**70 + 1, -1, 1.5, b"x", [0], Mute(), "", "x" * 10**6, "\ud800", object, (), False + 1]
raise SystemExit(codes[int(input()) % len(codes)])
