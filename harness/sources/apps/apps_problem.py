"""Problems of APPS, independent of the layout they were read from."""

import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from harness.errors import DataError
from harness.problem import Level, Problem, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.apps.apps_tests import Suite, read_suite
from harness.sources.apps.statement_tests import shown
from harness.sources.files.json_text import elements, string
from harness.sources.files.rows import LEVELS, content_hash, references_of
from harness.sources.problem_names import issues_of_statement
from harness.sources.public_examples import Split, split

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


@dataclass(frozen=True, slots=True)
class Columns:
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


@dataclass(frozen=True, slots=True)
class Core:
    """Parts of a problem that verdicts depend on: its tests, all of them decoded."""

    problem_id: str
    content_hash: str
    suite: Suite
    split: Split


def native_id(name: str, where: str) -> str:
    """Return a problem's name in the data; a number without leading zeros.

    Raises:
        DataError: it is empty, too long, or not text.
    """
    plain = name.strip()
    if not plain or len(plain) > _LONGEST_ID or not plain.isprintable():
        raise DataError(where, "problem_id", f"{name!r:.60} is not a number or a short name")
    return plain.lstrip("0") or "0" if plain.isascii() and plain.isdigit() else plain


def core_of(columns: Columns) -> Core:
    """Return a problem's public and hidden tests, with their id and hash.

    Raises:
        DataError: the tests do not have APPS's format.
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
    """Return the problem.

    Args:
        columns: columns of its row or folder.
        core: core made of the same columns.

    Raises:
        DataError: a column is invalid.
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
