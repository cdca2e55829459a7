"""What an APPS problem is, whichever layout it was read from."""

import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from harness.errors import DataError
from harness.problem import Level, Problem, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.apps.apps_tests import Suite, read_suite
from harness.sources.apps.statement_tests import shown
from harness.sources.errata import issues_of_statement
from harness.sources.files.json_text import elements, string
from harness.sources.files.rows import LEVELS, content_hash, references_of
from harness.sources.public_split import Split, split

APPS_LEVELS: dict[str, Level] = {
    "introductory": "easy",
    "interview": "medium",
    "competition": "hard",
    **LEVELS,
}
"""APPS's own words, and those that are levels themselves."""

_LONGEST_TITLE = 80
_LONGEST_ID = 200
_NO_TITLE = re.compile(
    r"problems?|problemset|practice|contests?|tasks?|challenges?|kata|train|view"
)
_OPAQUE = re.compile(r"[0-9a-f]{24}")


@dataclass(frozen=True, slots=True)
class Columns:
    """A row's columns; empty where the data has none.

    Attributes:
        where: the file and line, or the folder, as errors name it.
        native_id: as `native_id` makes it; None when the content's hash is to name the problem.
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


@dataclass(frozen=True, slots=True)
class Core:
    """What a problem's verdicts hang on: its tests, all of them decoded."""

    problem_id: str
    content_hash: str
    suite: Suite
    split: Split


def native_id(name: str, where: str) -> str:
    """A problem's name as the data gives it; a number without the zeros that folders pad it with.

    Raises:
        DataError: it is empty, too long, or not text.
    """
    plain = name.strip()
    if not plain or len(plain) > _LONGEST_ID or not plain.isprintable():
        raise DataError(where, "problem_id", f"{name!r:.60} is not a number or a short name")
    return plain.lstrip("0") or "0" if plain.isascii() and plain.isdigit() else plain


def core_of(columns: Columns) -> Core:
    """A problem's tests, public and hidden, and the id and hash that go with them.

    Raises:
        DataError: the tests are not as APPS has them.
    """
    suite = read_suite(columns.input_output, columns.starter_code, columns.where)
    digest = content_hash(
        columns.question,
        columns.starter_code,
        suite.entry_point or "",
        *(text for test in suite.tests for text in (test.input, test.output)),
    )
    name = columns.native_id or digest[:16]
    return Core(
        f"apps/{name}",
        digest,
        suite,
        split(suite.tests, shown(columns.question, columns.starter_code, suite)),
    )


def problem_of(columns: Columns, core: Core) -> Problem:
    """The problem.

    Args:
        columns: what its layout says.
        core: made of the same columns.

    Raises:
        DataError: a column is not as APPS has it.
    """
    name = core.problem_id.partition("/")[2]
    return Problem(
        id=core.problem_id,
        source="apps",
        title=title(columns.url, columns.question) or name,
        statement=columns.question,
        platform=platform(columns.url),
        difficulty=_level(columns),
        difficulty_word=columns.difficulty,
        starter_code=columns.starter_code,
        entry_point=core.suite.entry_point,
        signature=core.suite.signature,
        tests=TestSuite(core.split.public, partial(tuple[TestCase, ...], core.split.hidden)),
        public_rule=core.split.rule,
        preamble=preambles.APPS,
        rule="tokens",
        known_issues=issues_of_statement(columns.question),
        load_references=partial(references_of, *_references(columns)),
        aliases=(f"apps_{name}",),
        content_hash=core.content_hash,
    )


def _level(columns: Columns) -> Level | None:
    word = columns.difficulty.strip().lower()
    if not word:
        return None
    if word not in APPS_LEVELS:
        what = f"{columns.difficulty!r:.60} is not one of {', '.join(APPS_LEVELS)}"
        raise DataError(columns.where, "difficulty", what)
    return APPS_LEVELS[word]


def _references(columns: Columns) -> tuple[str, ...]:
    if columns.solutions.strip() in {"", "null"}:
        return ()
    try:
        return tuple(map(string, elements(columns.solutions)))
    except ValueError as error:
        raise DataError(columns.where, "solutions", str(error)) from None


def platform(url: str) -> str:
    """The site that a problem is from: `codeforces` for https://codeforces.com/…, else nothing."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    labels = host.rstrip(".").split(".")
    return labels[-2] if len(labels) > 1 else ""


def title(url: str, statement: str) -> str:
    """A problem's name, of at most 80 characters, for people.

    The last part of its address that names it: a slug, a task's code, for Codeforces the contest's
    number and the letter (`1353D`). Codewars's addresses end in a number that says nothing; there,
    and without an address, the first line of the statement.
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
