"""LiveCodeBench's rows, in upstream's schemas; here those of code generation.

Rows are distinguished by their columns: those that ask for a value are read by
`harness.registry.LIVECODEBENCH_ROWS`.

Upstream's reader is the reference for the meaning of a row
(https://github.com/LiveCodeBench/LiveCodeBench, `lcb_runner/benchmarks/code_generation.py`): every
column is a string, three of them hold JSON, and `func_name` in the metadata, not a test's
`testtype`, decides whether a solution is a function or a program. Hidden tests are most of the data
(4.5 GB for 1,055 problems), so a problem only stores where its own are.

Hidden tests are JSON, or base64 of zlib of a pickle of JSON.

Unpickling untrusted data can run code, and even an unpickler that refuses every global can be made
to allocate without end or to crash (a memo index of 2**31, a byte array of 2**40, a key nested a
million tuples deep). So nothing is unpickled here. A pickle of one string is a handful of opcodes
(https://docs.python.org/3/library/pickletools.html); those are read as a file format, and every
other opcode is refused.
"""

import base64
import binascii
import zlib
from collections.abc import Callable
from functools import cache, partial
from typing import cast

from pydantic_core import from_json

from harness.errors import DataError
from harness.problem import Problem, TestCase, TestSuite
from harness.registry import CHECKER_OF, LIVECODEBENCH_ROWS, resolve
from harness.sources import preambles
from harness.sources import problem_names as errata
from harness.sources.files.content_hash import content_hash
from harness.sources.files.json_bounds import check_mostly_strings
from harness.sources.files.lines import Line, json_complaint
from harness.sources.files.row_checks import check_function_test, text_column
from harness.sources.files.rows import load_paths, load_rows
from harness.sources.livecodebench.fields import Row, columns, json_list, level, release_date
from harness.sources.signature import signature_of

COLUMNS = (
    *("question_title", "question_content", "platform", "question_id", "contest_id"),
    *("contest_date", "starter_code", "difficulty"),
    *("public_test_cases", "private_test_cases", "metadata"),
)
MARKS = ("public_test_cases", "private_test_cases", "metadata")
"""Columns that identify such a row among LiveCodeBench's."""
_HASHED = ("question_content", "starter_code", "metadata", *MARKS[:2])
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


def parse_any(line: Line) -> Problem:
    """Return the problem of one row of any of LiveCodeBench's schemas.

    Raises:
        DataError: it matches none, or a column is missing or invalid.
    """
    row = line.json_object()
    for marks, parse in _schemas().values():
        if 2 * sum(name in row for name in marks) > len(marks):  # so that a missing one is named
            return parse(line, row)
    known = [f"of {name} ({', '.join(marks)}, …)" for name, (marks, _) in _schemas().items()]
    what = f"has neither the columns {', '.join(known[:-1])} nor those {known[-1]}"
    raise DataError(line.where, None, what)


read_rows = partial(load_rows, parse=parse_any)
"""Read the problems of some files, in order."""

load = partial(load_paths, "livecodebench", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def parse_row(line: Line, parsed: Row | None = None) -> Problem:
    """Return the problem of one row of code generation.

    Args:
        line: the row.
        parsed: its parsed content, if known; parsing takes most of the time.

    Raises:
        DataError: a column is missing or invalid.
    """
    parsed = columns(line, COLUMNS, parsed)
    row = {name: text_column(parsed, name, line.where) for name in COLUMNS}
    question_id = row["question_id"]
    if not question_id.strip():
        raise DataError(line.where, "question_id", "empty")
    title = row["question_title"]
    platform = row["platform"].lower()
    slug = title if platform == "leetcode" else ""
    checker = resolve(CHECKER_OF)(question_id, slug)
    entry_point = _entry_point(row["metadata"], line.where)
    functional = entry_point is not None
    return Problem(
        id=f"livecodebench/{question_id}",
        source="livecodebench",
        title=title,
        statement=row["question_content"],
        platform=platform,
        difficulty=level(parsed, line.where),
        difficulty_word=row["difficulty"],
        release_date=release_date(parsed, line.where),
        starter_code=row["starter_code"],
        entry_point=entry_point,
        signature=signature_of(row["starter_code"], entry_point),
        tests=TestSuite(
            public=_tests(
                row["public_test_cases"].encode(),
                public=True,
                functional=functional,
                where=line.where,
            ),
            load_hidden=partial(
                _decode, row["private_test_cases"], functional=functional, where=line.where
            ),
        ),
        preamble=preambles.LIVECODEBENCH,
        checker=checker,
        known_issues=errata.known_issues(
            question_id, slug, statement=row["question_content"], checked=checker is not None
        ),
        aliases=(slug,) if slug else (),
        content_hash=content_hash(
            *map(row.__getitem__, _HASHED), *([checker.code] if checker else [])
        ),
    )


def _entry_point(metadata: str, where: str) -> str | None:
    try:
        value: object = from_json(metadata)
    except ValueError as error:
        raise DataError(where, "metadata", json_complaint(error)) from None
    if not isinstance(value, dict):
        raise DataError(where, "metadata", "not a JSON object")
    name = cast("dict[str, object]", value).get("func_name")
    if name is None:
        return None
    if not isinstance(name, str) or not name.isidentifier():
        raise DataError(where, "metadata", f"func_name {name!r:.60} is not a Python name")
    return name


def _tests(text: bytes, *, public: bool, functional: bool, where: str) -> tuple[TestCase, ...]:
    column = "public_test_cases" if public else "private_test_cases"
    try:
        check_mostly_strings(text)
    except ValueError as error:
        raise DataError(where, column, str(error)) from None
    tests = json_list(text, column, where)
    return tuple(
        _test(test, number, public=public, functional=functional, where=where, column=column)
        for number, test in enumerate(tests, start=1)
    )


def _test(
    test: object, number: int, *, public: bool, functional: bool, where: str, column: str
) -> TestCase:
    match test:
        case {"input": str(given), "output": str(expected), "testtype": "stdin" | "functional"}:
            if functional:
                check_function_test(given, expected, where, f"{column}, test {number}")
            return TestCase(input=given, output=expected, public=public)
        case {"input": str(), "output": str(), "testtype": str(kind)}:
            complaint = f"testtype {kind!r:.60} is not stdin or functional"
        case _:
            complaint = "input, output and testtype must be there, as strings"
    raise DataError(where, column, f"test {number}: {complaint}")


def _decode(encoded: str, *, functional: bool, where: str) -> tuple[TestCase, ...]:
    if not encoded:
        return ()
    try:
        text = decode_hidden_tests(encoded)
    except ValueError as error:
        raise DataError(where, "private_test_cases", str(error)) from None
    return _tests(text, public=False, functional=functional, where=where)


@cache
def _schemas() -> dict[str, tuple[tuple[str, ...], Callable[[Line, Row], Problem]]]:
    """Return kinds of rows, each with columns that identify it and what reads it."""
    others = {
        name: (resolve(f"{module}:MARKS"), resolve(f"{module}:parse_row"))
        for name, module in LIVECODEBENCH_ROWS.items()
    }
    return {"code generation": (MARKS, parse_row), **others}


def decode_hidden_tests(encoded: str, *, limit: int = MAX_DECODED_BYTES) -> bytes:
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
