"""Problems of APPS, independent of the layout they were read from.

For a program the `inputs` and `outputs` of `input_output` are strings, or lists of lines. With
`fn_name` each input is the list of a call's arguments and each output its result, which rows from
Codewars wrap in a list of one and rows from LeetCode do not. Every value of a call keeps its text
in the data: integers of more than 4,300 digits occur.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.errors import DataError
from harness.problem import Codec, Level, Problem, Signature, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.apps.statement_tests import shown
from harness.sources.canonical_output import canonical
from harness.sources.files.content_hash import content_hash
from harness.sources.files.json_text import elements, members, one_line, string
from harness.sources.files.row_checks import references_of
from harness.sources.files.rows import LEVELS
from harness.sources.problem_names import issues_of_statement
from harness.sources.public_split import split
from harness.sources.signature import signature_of

FIELD = "input_output"
APPS_LEVELS: dict[str, Level] = {
    "introductory": "easy",
    "interview": "medium",
    "competition": "hard",
    **LEVELS,
}
"""Levels by APPS's own words and by the standard ones."""

_LONGEST_TITLE = 80
_LONGEST_ID = 200
_NO_TITLE = re.compile(
    r"problems?|problemset|practice|contests?|tasks?|challenges?|kata|train|view"
)
_OPAQUE = re.compile(r"[0-9a-f]{24}")
_MAX_STARTER_CHARACTERS = 2**16
_SOLUTION = re.compile(r"^\s*class\s+Solution\b", re.MULTILINE)
_SCALAR_RESULT = re.compile(r"->\s*(?:int|bool|str|float)\s*:")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,4000})")


class AppsColumns(NamedTuple):
    """Columns of a row; empty where the data has none.

    Attributes:
        where: the file and line, or the folder, as named in errors.
        native_id: result of `native_id`; None to name the problem by its content's hash.
        solutions: a JSON list of strings, as text.
        input_output: a JSON object, as text.
    """

    where: str
    native_id: str | None
    question: str
    solutions: str
    input_output: str
    difficulty: str
    url: str
    starter_code: str


def native_id(name: str, where: str) -> str:
    """Return a problem's name in the data; a number without leading zeros.

    Raises:
        DataError: it is empty, too long, or not text.
    """
    plain = name.strip()
    if not plain or len(plain) > _LONGEST_ID or not plain.isprintable():
        raise DataError(where, "problem_id", f"{name!r:.60} is not a number or a short name")
    return plain.lstrip("0") or "0" if plain.isascii() and plain.isdigit() else plain


def problem_of(columns: AppsColumns) -> Problem:
    """Return the problem.

    Raises:
        DataError: a column is invalid, or the tests do not have APPS's format.
    """
    suite = read_suite(columns.input_output, columns.starter_code, columns.where)
    digest = content_hash(
        columns.question,
        columns.starter_code,
        suite.entry_point or "",
        *(text for test in suite.tests for text in (test.input, test.output)),
    )
    name = columns.native_id or digest[:16]
    visible = shown(columns.question, columns.starter_code, suite.entry_point, suite.tests)
    public, hidden, rule = split(suite.tests, visible)
    return Problem(
        id=f"apps/{name}",
        source="apps",
        title=title(columns.url, columns.question) or name,
        statement=columns.question,
        platform=platform(columns.url),
        difficulty=_level(columns),
        difficulty_word=columns.difficulty,
        starter_code=columns.starter_code,
        entry_point=suite.entry_point,
        signature=suite.signature,
        tests=TestSuite(public, partial(tuple[TestCase, ...], hidden)),
        public_rule=rule,
        preamble=preambles.APPS,
        rule="tokens",
        known_issues=issues_of_statement(columns.question),
        load_references=partial(references_of, *_references(columns)),
        aliases=(f"apps_{name}",),
        content_hash=digest,
    )


def _level(columns: AppsColumns) -> Level | None:
    word = columns.difficulty.strip().lower()
    if not word:
        return None
    if word not in APPS_LEVELS:
        what = f"{columns.difficulty!r:.60} is not one of {', '.join(APPS_LEVELS)}"
        raise DataError(columns.where, "difficulty", what)
    return APPS_LEVELS[word]


def _references(columns: AppsColumns) -> tuple[str, ...]:
    if columns.solutions.strip() in {"", "null"}:
        return ()
    try:
        return tuple(map(string, elements(columns.solutions)))
    except ValueError as error:
        raise DataError(columns.where, "solutions", str(error)) from None


def platform(url: str) -> str:
    """Return the site of a problem: `codeforces` for https://codeforces.com/…, or ""."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    labels = host.rstrip(".").split(".")
    return labels[-2] if len(labels) > 1 else ""


def title(url: str, statement: str) -> str:
    """Return a problem's title, of at most 80 characters.

    It is the last part of the URL that names the problem: a slug, a task's code, for Codeforces the
    contest's number and the letter (`1353D`). Codewars's URLs end in an opaque id; for these, and
    without a URL, it is the first line of the statement.
    """
    try:
        parts = [part for part in urlsplit(url).path.split("/") if part]
    except ValueError:
        parts = []
    named = [part for part in parts if not _NO_TITLE.fullmatch(part.lower())]
    if not named or _OPAQUE.fullmatch(named[-1]):
        return _bounded(next((line for line in statement.splitlines() if line.strip()), ""))
    if platform(url) == "codeforces" and len(named) > 1 and named[-2].isdigit():
        return _bounded(named[-2] + named[-1])
    return _bounded(named[-1])


def _bounded(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_TITLE else plain[: _LONGEST_TITLE - 1] + "…"


class Suite(NamedTuple):
    """Entry point, None for a program, its signature, and the tests in the data's order."""

    entry_point: str | None
    signature: Signature
    tests: tuple[TestCase, ...]


class _Call(NamedTuple):
    """Raw JSON texts of a call's arguments, and of its result."""

    arguments: list[str]
    result: str


def read_suite(input_output: str, starter_code: str, where: str) -> Suite:
    """Return the tests of a problem; none where the column is empty.

    Args:
        input_output: the column, a JSON text; empty, or `null`, in problems without tests.
        starter_code: code that determines how arguments and result are converted.
        where: name of the problem in errors.

    Raises:
        DataError: the column is not JSON, or does not have APPS's format.
    """
    if input_output.strip() in {"", "null"}:
        return Suite(None, Signature(), ())
    try:
        columns = members(input_output)
        inputs, outputs = (_list(columns.get(name)) for name in ("inputs", "outputs"))
        entry_point = _entry_point(columns.get("fn_name"))
    except ValueError as error:
        raise DataError(where, FIELD, str(error)) from None
    if len(inputs) != len(outputs):
        what = f"{len(inputs)} inputs but {len(outputs)} outputs"
        raise DataError(where, FIELD, what)
    if entry_point is None:
        return Suite(None, Signature(), _program_tests(inputs, outputs, where))
    calls = _calls(inputs, outputs, where)
    if is_wrapped([call.result for call in calls], starter_code, entry_point):
        calls = [_Call(call.arguments, elements(call.result)[0]) for call in calls]
    signature = _signature(calls, signature_of(starter_code, entry_point))
    tests = tuple(
        TestCase(
            input="\n".join(map(one_line, call.arguments)),
            output=canonical(one_line(call.result), signature),
            public=False,
        )
        for call in calls
    )
    return Suite(entry_point, signature, tests)


def is_wrapped(results: Sequence[str], starter_code: str, entry_point: str) -> bool:
    """Return whether every result is wrapped in a list, as in rows from Codewars.

    The function does not return that list; LeetCode's rows have none. So a list of one is unwrapped
    if every result is one. If the starter code has a class `Solution`, the entry point must also be
    annotated as returning an int, bool, str or float, which cannot be a list.

    Args:
        results: raw JSON texts.
        starter_code: untrusted code, only searched as text.
        entry_point: name of the function or method.
    """
    if not results or not all(_is_list(text) and len(elements(text)) == 1 for text in results):
        return False
    code = starter_code[:_MAX_STARTER_CHARACTERS]
    return _SOLUTION.search(code) is None or _returns_scalar(code, entry_point)


def _returns_scalar(code: str, entry_point: str) -> bool:
    _, head, rest = code.partition(f"def {entry_point}")
    return bool(head) and _SCALAR_RESULT.search(rest.partition("\ndef ")[0]) is not None


def _list(text: str | None) -> list[str]:
    return [] if text is None or text == "null" else elements(text)


def _entry_point(text: str | None) -> str | None:
    if text is None or text == "null":
        return None
    name = string(text)
    if not name.isidentifier():
        raise ValueError(f"fn_name {name!r:.60} is not a Python name")
    return name


def _program_tests(inputs: list[str], outputs: list[str], where: str) -> tuple[TestCase, ...]:
    tests: list[TestCase] = []
    for number, (given, expected) in enumerate(zip(inputs, outputs, strict=True), start=1):
        try:
            tests.append(TestCase(input=_text(given), output=_text(expected), public=False))
        except ValueError as error:
            raise DataError(where, FIELD, f"test {number}: {error}") from None
    return tuple(tests)


def _text(text: str) -> str:
    """Return a program's input or output: a string, or lines, each then with a line end."""
    if not _is_list(text):
        return string(text)
    return "".join(f"{string(line)}\n" for line in elements(text))


def _calls(inputs: list[str], outputs: list[str], where: str) -> list[_Call]:
    calls: list[_Call] = []
    for number, (given, expected) in enumerate(zip(inputs, outputs, strict=True), start=1):
        if not _is_list(given):
            raise DataError(where, FIELD, f"test {number}: the input is not a list of arguments")
        calls.append(_Call(elements(given), expected))
    return calls


def _signature(calls: list[_Call], declared: Signature) -> Signature:
    """Return the starter code's codecs, with `INT_KEYS` for mappings from integers.

    JSON has no such keys. As upstream does, they are converted back, at the top of an argument or a
    result; here only where they are integers in every test of the problem.
    """
    width = max((len(call.arguments) for call in calls), default=0)
    arguments = [*declared.arguments, *[Codec.JSON] * (width - len(declared.arguments))]
    for index, codec in enumerate(arguments):
        texts = [call.arguments[index] for call in calls if index < len(call.arguments)]
        if codec is Codec.JSON and _has_integer_keys(texts):
            arguments[index] = Codec.INT_KEYS
    result = declared.result
    if result is Codec.JSON and _has_integer_keys([call.result for call in calls]):
        result = Codec.INT_KEYS
    while len(arguments) > len(declared.arguments) and arguments[-1] is Codec.JSON:
        arguments.pop()
    return Signature(arguments=tuple(arguments), result=result)


def _has_integer_keys(texts: list[str]) -> bool:
    if not all(text.startswith("{") for text in texts):
        return False
    keys = [key for text in texts for key in members(text)]
    return bool(keys) and all(_INTEGER.fullmatch(key) for key in keys)


def _is_list(text: str) -> bool:
    return text.startswith("[")
