r"""This project's own format, `jsonl:PATH`: one problem a line.

    {"id": "sum-of-two", "statement": "…", "tests": [{"input": "1 2\n", "output": "3\n",
     "public": true}]}

`harness.sources.jsonl_row.JsonlRow` lists every key. With an `entry_point` a problem asks for a
function: each line of a test's input is then one JSON value, an argument each, and its output is
one JSON value. Tests may be code, and become code where JSON cannot express their values. A checker
compares results with a tolerance, in any language.
"""

from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING

from pydantic_core import to_json

from harness.errors import UsageError
from harness.judged_by import Checker
from harness.problem import Problem, Reference, Signature, TestCase, TestSuite
from harness.registry import ROW_CHECKER, ROW_TESTS, TOLERANCE, resolve
from harness.sources import preambles
from harness.sources.canonical_output import canonical
from harness.sources.files.content_hash import content_hash
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import JsonLines, Line
from harness.sources.files.rows import LEVELS, Loaded, load_paths, load_rows
from harness.sources.jsonl_row import JsonlRow, RowChecker, RowReference, read_row
from harness.sources.public_split import Split, split
from harness.sources.signature import signature_of

if TYPE_CHECKING:
    from harness.kinds.checkers.row_checker import RowProgram

_JUDGED_TOO = {"test", "public_test", "test_setup", "values", "preamble_code", "starters"}
_OF_A_TEST = {"kwargs", "raises", "argument", "tolerance"}


def parse_row(line: Line, *, source: str) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: the row does not have the format.
    """
    row = read_row(line)
    program = _program_of(row, line.where)
    digest = _content_hash(row)
    if program is not None:
        digest = program.hash_of(digest)
    name = row.id or digest[:16]
    problem_id = name if "/" in name else f"{source}/{name}"
    signature = signature_of(row.starter_code, row.entry_point)
    as_code: tuple[Split, Checker] | None = resolve(ROW_TESTS)(row, line.where)
    if as_code is not None:
        (tests, checker), signature = as_code, Signature()
    else:
        tests = _tests(row, signature)
        checker = program and program.checker
        if any(test.tolerance is not None for test in row.tests):
            checker = resolve(TOLERANCE)
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
        preamble=preamble_of(row),
        rule=row.rule,
        checker=checker,
        scoring=program and program.scoring(len(tests.public), len(tests.hidden)),
        exit_code_counts=program is not None,
        languages=row.languages,
        cpu_s=row.time_limit,
        memory_bytes=row.memory_limit and row.memory_limit << 20,
        load_references=partial(tuple[Reference, ...], references_of(row)),
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
    del skip_bad_rows, watch  # no row is bad, and the file is small
    if where is not None:
        raise UsageError(f"fixture has no {where!r}: the bundled problems are one set")
    return _bundled()


@cache
def _bundled() -> Loaded:
    """Read the bundled problems, once a process: their file is a part of the package."""
    bundled = resources.files("harness") / "fixtures" / "problems.jsonl"
    with resources.as_file(bundled) as path:
        file = JsonLines(path, name="fixtures/problems.jsonl")
        return load_rows([file], partial(parse_row, source="fixture"))


def _program_of(row: JsonlRow, where: str) -> "RowProgram | None":
    """Return a row's checker that is a program; None without one. Raises DataError."""
    return resolve(ROW_CHECKER)(row.checker, where) if isinstance(row.checker, RowChecker) else None


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


def references_of(row: JsonlRow) -> tuple[Reference, ...]:
    """Return a row's references, without empty ones."""
    given = (RowReference(code=each) if isinstance(each, str) else each for each in row.references)
    return tuple(
        Reference(code=each.code, language=each.language) for each in given if each.code.strip()
    )


def preamble_of(row: JsonlRow) -> str:
    """Return the source with names that solutions may rely on."""
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
