"""Decoding of LiveCodeBench's hidden tests.

They are JSON, or base64 of zlib of a pickle of JSON.

Unpickling untrusted data can run code, and even an unpickler that refuses every global can be made
to allocate without end or to crash (a memo index of 2**31, a byte array of 2**40, a key nested a
million tuples deep). So nothing is unpickled here. A pickle of one string is a handful of opcodes
(https://docs.python.org/3/library/pickletools.html); those are read as a file format, and every
other opcode is refused.
"""

import base64
import binascii
import zlib

MAX_DECODED_BYTES = 2**30
"""Largest decompressed tests. Upstream's largest suites have some hundred MB."""

_ARGUMENT_BYTES = {
    b"\x80": 1,  # PROTO
    b"\x95": 8,  # FRAME
    b"\x94": 0,  # MEMOIZE
    b"q": 1,  # BINPUT
    b"r": 4,  # LONG_BINPUT
}
_LENGTH_BYTES = {
    b"\x8c": 1,  # SHORT_BINUNICODE
    b"X": 4,  # BINUNICODE
    b"\x8d": 8,  # BINUNICODE8
}
_STOP = b"."
_MAX_OPCODES = 16  # the longest that Python writes has six


def decode(encoded: str, *, limit: int = MAX_DECODED_BYTES) -> bytes:
    """Return the JSON text of a `private_test_cases` column, not yet parsed.

    Args:
        encoded: plain JSON if it begins with a bracket, which base64 cannot; else base64.
        limit: largest decompressed pickle, in bytes.

    Raises:
        ValueError: the encoding is invalid, the text too large, or its pickle is not one string.
    """
    if encoded.lstrip()[:1] == "[":
        return encoded.encode()
    try:
        compressed = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("neither a JSON list nor base64") from None
    return pickled_string(inflate(compressed, limit))


def inflate(compressed: bytes, limit: int) -> bytes:
    """Decompress zlib data, never holding more than `limit` + 1 bytes of the result.

    Raises:
        ValueError: the data is broken, ends early, or is larger than that.
    """
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(compressed, limit + 1)
    except zlib.error as error:
        raise ValueError(f"broken zlib data: {error}") from None
    if len(data) > limit:
        raise ValueError(f"more than {limit} bytes when decompressed")
    if not stream.eof:
        raise ValueError("the zlib data ends early")
    return data


def pickled_string(pickled: bytes) -> bytes:
    """Return the UTF-8 bytes of the string in a pickle of binary protocol (1 to 5).

    Raises:
        ValueError: the pickle holds anything but one string.
    """
    position = 0
    string: bytes | None = None
    for _ in range(_MAX_OPCODES):
        opcode = pickled[position : position + 1]
        position += 1
        if opcode in _ARGUMENT_BYTES:
            position += _ARGUMENT_BYTES[opcode]
        elif opcode in _LENGTH_BYTES and string is None:
            start = position + _LENGTH_BYTES[opcode]
            length = int.from_bytes(pickled[position:start], "little")
            position = start + length
            string = pickled[start:position]
        elif opcode == _STOP and string is not None and position == len(pickled):
            return string
        else:
            break
    raise ValueError("the pickle holds something else than one string")
