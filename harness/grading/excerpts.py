"""Bounded pieces of texts of any size."""

GAP = " … "


def shorten(text: str, most: int) -> str:
    """Head and tail of a text, at most `most` characters, with the number of those left out."""
    if len(text) <= most:
        return text
    longest_note = f"{GAP}{len(text)} characters left out{GAP}"
    kept = max(0, most - len(longest_note))
    head = kept * 2 // 3
    tail = text[len(text) - kept + head :]
    return f"{text[:head]}{GAP}{len(text) - kept} characters left out{GAP}{tail}"


def around(text: str, position: int, most: int) -> str:
    """At most `most` characters of a text around a position, dots where it goes on."""
    start = max(0, min(position - most // 3, len(text) - most))
    end = start + most
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def writable(text: str) -> str:
    """The text with what UTF-8 cannot carry, lone surrogates, written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
