class Mute(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


raise Mute
