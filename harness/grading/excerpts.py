"""Bounded pieces of texts of any size."""

GAP = " … "


def shorten(text: str, most: int) -> str:
    """Head and tail of a text, at most `most` characters, with the number of those left out."""
    if len(text) <= most:
        return text
    note = f"{GAP}{len(text) - most} characters left out{GAP}"
    head = max(0, (most - len(note)) * 2 // 3)
    tail = max(0, most - len(note) - head)
    return text[:head] + note + (text[-tail:] if tail else "")


def around(text: str, position: int, most: int) -> str:
    """At most `most` characters of a text around a position, dots where it goes on."""
    start = max(0, min(position - most // 3, len(text) - most))
    end = start + most
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
