r"""This project's own format, `jsonl:PATH`: one problem a line.

    {"id": "sum-of-two", "statement": "…", "tests": [{"input": "1 2\n", "output": "3\n",
     "public": true}]}

`harness.sources.jsonl_row.JsonlRow` lists every key. With an `entry_point` a problem asks for a
function: each line of a test's input is then one JSON value, an argument each, and its output is
one JSON value. Tests may be code, and become code where JSON cannot express their values. A checker
compares results with a tolerance, in any language.
"""

import difflib
import re
from collections.abc import Sequence
from functools import partial
from importlib import resources

from pydantic_core import to_json

from harness.errors import DataError, UsageError
from harness.languages import PYTHON
from harness.problem import Checker, Problem, Reference, Signature, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.canonical_output import canonical
from harness.sources.code_tests import units
from harness.sources.code_tests.calls import (
    CHECK_CLOSE,
    HELPERS,
    CallError,
    CallWriter,
    typed_calls,
)
from harness.sources.code_tests.evalplus import read_script
from harness.sources.files.content_hash import content_hash
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import JsonLines, Line
from harness.sources.files.rows import LEVELS, Loaded, load_paths, load_rows
from harness.sources.jsonl_row import JsonlRow, RowChecker, RowReference, RowTest, read_row
from harness.sources.public_split import FIRST, Split, split
from harness.sources.row_checker import hash_of, program_of, scoring_of
from harness.sources.signature import defined_names, signature_of

_JUDGED_TOO = {"test", "public_test", "test_setup", "values", "preamble_code", "starters"}
_OF_A_TEST = {"kwargs", "raises", "argument", "tolerance"}


def parse_row(line: Line, *, source: str) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: the row does not have the format.
    """
    row = read_row(line)
    program = program_of(row.checker, line.where) if isinstance(row.checker, RowChecker) else None
    digest = _content_hash(row)
    if program is not None:
        digest = hash_of(digest, program)
    name = row.id or digest[:16]
    problem_id = name if "/" in name else f"{source}/{name}"
    signature = signature_of(row.starter_code, row.entry_point)
    as_code = _tests_as_code(row, line.where)
    if as_code is not None:
        (tests, checker), signature = as_code, Signature()
    else:
        tests = _tests(row, signature)
        checker = program and Checker(kind="program", program=program)
        if any(test.tolerance is not None for test in row.tests):
            checker = Checker(kind="check", code=f"{HELPERS}\n{CHECK_CLOSE}", takes_flags=True)
        elif isinstance(row.checker, str):
            checker = Checker(kind="check", code=row.checker)
    return Problem(
        id=problem_id,
        source=problem_id.partition("/")[0],
        title=row.title or problem_id.partition("/")[2],
        statement=row.statement,
        platform=row.platform.lower(),
        difficulty=LEVELS.get((row.difficulty or "").lower()),
        difficulty_word=row.difficulty or "",
        tags=row.tags,
        release_date=row.release_date,
        starter_code=row.starter_code,
        starters=tuple(row.starters.items()),
        entry_point=row.entry_point,
        signature=signature,
        tests=TestSuite(tests.public, partial(tuple[TestCase, ...], tests.hidden)),
        public_rule=tests.rule,
        preamble=_preamble(row),
        rule=row.rule,
        checker=checker,
        scoring=program and scoring_of(program.most, len(tests.public), len(tests.hidden)),
        exit_code_counts=program is not None,
        languages=row.languages,
        cpu_s=row.time_limit,
        memory_bytes=row.memory_limit and row.memory_limit << 20,
        load_references=partial(tuple[Reference, ...], _references(row)),
        known_issues=row.known_issues,
        content_hash=digest,
    )


read_rows = partial(load_rows, parse=partial(parse_row, source="jsonl"))
"""Read the problems of some files, in order."""

load = partial(load_paths, "jsonl", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def load_bundled(where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """Load the bundled problems, written for this project and available offline.

    Raises:
        UsageError: a place is given; there is only one set.
    """
    if where is not None:
        raise UsageError(f"fixture has no {where!r}: the bundled problems are one set")
    bundled = resources.files("harness") / "fixtures" / "problems.jsonl"
    with resources.as_file(bundled) as path:
        file = JsonLines(path, name="fixtures/problems.jsonl")
        parse = partial(parse_row, source="fixture")
        return load_rows([file], parse, skip_bad_rows=skip_bad_rows, watch=watch)


def _tests(row: JsonlRow, signature: Signature) -> Split:
    tests = [
        TestCase(
            input=t.input,
            output=canonical(t.output or "", signature),
            public=bool(t.public),
            flags=() if t.tolerance is None else (repr(t.tolerance),),
        )
        for t in row.tests
    ]
    if tests and all(test.public is None for test in row.tests):
        return split(tests, [False for _ in tests])
    public = tuple(test for test in tests if test.public)
    return Split(public, tuple(test for test in tests if not test.public), "source")


def _references(row: JsonlRow) -> tuple[Reference, ...]:
    given = (RowReference(code=each) if isinstance(each, str) else each for each in row.references)
    return tuple(
        Reference(code=each.code, language=each.language) for each in given if each.code.strip()
    )


def _preamble(row: JsonlRow) -> str:
    if row.preamble is None:
        named = preambles.LEETCODE if row.entry_point else ""
    else:
        named = preambles.BY_NAME[row.preamble]
    return f"{named}\n{row.preamble_code}" if row.preamble_code else named


def _content_hash(row: JsonlRow) -> str:
    tests = to_json([(test.input, test.output, test.public) for test in row.tests]).decode()
    judged = (row.preamble or "", row.rule, row.checker if isinstance(row.checker, str) else "")
    judged = judged if judged != ("", "lcb", "") else ()
    more = row.model_dump(include=_JUDGED_TOO, exclude_defaults=True)
    of_tests = [test.model_dump(include=_OF_A_TEST, exclude_defaults=True) for test in row.tests]
    more |= {"tests": of_tests} if any(of_tests) else {}
    judged = (*judged, to_json(more).decode()) if more else judged
    return content_hash(row.statement, row.starter_code, row.entry_point or "", tests, *judged)


def _tests_as_code(row: JsonlRow, where: str) -> tuple[Split, Checker] | None:
    """Return a row's tests and checker, if the tests are or must become code.

    Returns:
        None for a row whose tests are data.

    Raises:
        DataError: they do not have the format.
    """
    if row.test is not None:
        return _of_code(row, row.test, where)
    if row.public_test is not None:
        raise DataError(where, "public_test", "it needs 'test' as well")
    needs_code = row.values == "python" or any(map(_is_call, row.tests))
    special = needs_code or any(test.tolerance is not None for test in row.tests)
    if row.entry_point is None:
        if special:
            what = "missing; values, kwargs, raises, argument and tolerance need a function's name"
            raise DataError(where, "entry_point", what)
        return None
    is_class = _defined(row).get(row.entry_point, False)
    plain = row.rule == "lcb" and row.checker is None
    typed = typed_calls(row.starter_code, row.entry_point) if plain else None
    if not (special or is_class or typed):
        return None
    if not plain:
        field = "checker" if row.checker is not None else "rule"
        what = "cannot judge tests in Python's values, of a class, or with keys of their own"
        raise DataError(where, field, what)
    if not (needs_code or is_class or typed or row.test_setup):
        return None
    if typed is None or row.values == "python":
        typed = CallWriter(row.entry_point, python=row.values == "python", is_class=is_class)
    return _of_values(row, row.entry_point, typed, where)


def _defined(row: JsonlRow) -> dict[str, bool]:
    python = [each.code for each in _references(row) if each.language == PYTHON]
    code = (row.starter_code, *python[:1])
    return {name: kind for text in code for name, kind in defined_names(text).items()}


def _is_call(test: RowTest) -> bool:
    """Return whether a test says more of its call than positional arguments and a result."""
    return bool(test.kwargs) or not (test.raises is test.argument is None)


def _of_values(
    row: JsonlRow, entry_point: str, calls: CallWriter, where: str
) -> tuple[Split, Checker] | None:
    if not row.tests:
        return None
    code: list[str] = []
    for number, test in enumerate(row.tests, 1):
        try:
            code.append(calls.code(test))
        except CallError as error:
            raise DataError(where, f"tests, test {number}, {error.field}", str(error)) from None
    marks = [test.public for test in row.tests]
    if all(each is None for each in marks):
        first = _first(len(code))
        marks = [number < first for number in range(len(code))]
    chosen = [
        [text for text, public in zip(code, marks, strict=True) if public is bool(k)]
        for k in (1, 0)
    ]
    before = f"{HELPERS}\n{row.test_setup}"
    public, hidden = (_units(texts, where, "tests") if texts else None for texts in chosen)
    checker, known, unknown = units.code_tests(
        *(public, hidden, entry_point, before),
        defined=_defined(row),
        starter=row.starter_code,
        statement=row.statement,
    )
    rule = "first" if all(test.public is None for test in row.tests) else "source"
    return Split(known, unknown, rule), checker


def _of_code(row: JsonlRow, test: str | tuple[str, ...], where: str) -> tuple[Split, Checker]:
    if row.tests:
        raise DataError(where, "test", "give 'test' or 'tests', not both")
    if row.checker is not None or row.rule != "lcb":
        field = "checker" if row.checker is not None else "rule"
        raise DataError(where, field, "cannot judge tests that are code: they judge themselves")
    entry_point = _entry_point(row, test, where)
    hidden = _units(test, where, "test")
    if row.public_test is None:
        first = _first(len(hidden.tests))
        tests = units.code_tests(
            *(None, hidden, entry_point, row.test_setup, first),
            defined=_defined(row),
            preamble=_preamble(row),
            starter=row.starter_code,
            statement=row.statement,
        )
        return Split(tests[1], tests[2], "first"), tests[0]
    public = _units(row.public_test, where, "public_test")
    checker, known, unknown = units.code_tests(
        *(public, hidden, entry_point, row.test_setup),
        defined=_defined(row),
        preamble=_preamble(row),
        starter=row.starter_code,
        statement=row.statement,
    )
    return Split(known, unknown, "source"), checker


def _units(code: str | Sequence[str], where: str, field: str) -> units.Units:
    try:
        return read_script(code) if isinstance(code, str) else units.read_units(code)
    except units.TestCodeError as error:
        raise DataError(where, field, str(error)) from None


def _first(number: int) -> int:
    return min(FIRST, max(1, number // 2))


def _entry_point(row: JsonlRow, test: str | tuple[str, ...], where: str) -> str:
    """Return the function's name, which the tests must use, or `candidate` for it."""
    name = row.entry_point
    if name is None:
        raise DataError(where, "entry_point", "tests that are code need the function's name")
    defined = _defined(row)
    if defined and name not in defined:
        near = difflib.get_close_matches(name, defined, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        what = f"neither starter_code nor the first reference defines {name!r:.60}{hint}"
        raise DataError(where, "entry_point", what)
    texts = [test] if isinstance(test, str) else list(test)
    used = units.called_names(texts)
    is_check = any("def check(" in text for text in texts)
    named = re.compile(rf"\b{re.escape(name)}\b")
    if not is_check and used and not any(map(named.search, texts)):
        near = difflib.get_close_matches(name, used, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(where, "entry_point", f"the tests do not use {name!r:.60}{hint}")
    return name
