"""Memory that JSON takes when it is parsed, estimated from its text, so that parsing is bounded."""

import re

PARSED_BYTES = 160 << 20
"""Most estimated bytes of the parsed values of a body."""
CHEAP = 10_000
"""Most commas and opening brackets of a text whose size is not worth an estimate."""
BYTES_OF = {b"{": 600, b"[": 120, b",": 60, b'"': 90}
"""Bytes of an object with its model, a list, a value among others, and a string beside its text.

A test of a `/grade` body is an object of four strings; 200,000 of them were measured in a server.
"""
RESULT_BYTES = 2_700
"""Bytes of a test while it is judged, beside its values: the test, its result, the answer.

30,000 tests of a function took 91 MiB in a server, their values included.
"""
# Possessive: no memory is kept for going back.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{\[,]', re.DOTALL)


def parsed_bytes(text: bytes, most: int = PARSED_BYTES) -> int:
    """Return the estimated size of parsed JSON, at least `most + 1` if it is larger than `most`.

    Args:
        text: the JSON, which need not be valid.
        most: size at which to stop counting.
    """
    if sum(map(text.count, (b"{", b"[", b","))) <= CHEAP:
        return 0
    total = 0
    for match in _TOKEN.finditer(text):
        total += BYTES_OF[text[match.start() : match.start() + 1]]
        if total > most:
            break
    return total
