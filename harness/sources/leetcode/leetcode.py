"""LeetCode's problems: greengerong/leetcode, with tests of LeetCodeDataset.

A row of greengerong/leetcode has a number, a slug, a title, a difficulty, a statement in Markdown,
and a solution in each of four languages, inside prose. It has no tests. If the files contain a row
of newfacade/LeetCodeDataset with the same slug, the problem gets that row's tests and the fields
that go with them. Otherwise it has no tests, and its samples are `ungraded`.

A row of LeetCodeDataset without one of greengerong/leetcode is ignored and not counted: the source
`leetcodedataset` has them all.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial

from harness.errors import DataError, UsageError
from harness.languages.known import LANGUAGES
from harness.problem import Problem, Reference, TestSuite
from harness.registry import CHECKER_OF, resolve
from harness.sources import preambles
from harness.sources.files.catalogue import RowFile
from harness.sources.files.content_hash import content_hash, with_checker
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import text_column
from harness.sources.files.rows import LEVELS, Loaded, load_paths, load_rows
from harness.sources.leetcode import dataset
from harness.sources.problem_names import issues_of_statement

COLUMNS = ("slug", "title", "difficulty", "content", "python")
"""Required columns of a row of greengerong/leetcode, besides `id`; they hold strings."""

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?P<word>[\w+]*)[^\n]*\n", re.MULTILINE)
_FENCE_END = re.compile(r"^[ \t]*```", re.MULTILINE)
_KNOWN = {own.title.lower(): frozenset(own.fences) for own in LANGUAGES.values()}
WORDS = {
    "python": _KNOWN["python"],
    "java": frozenset({"java"}),
    "c++": _KNOWN["c++"],
    "javascript": frozenset({"javascript", "js"}),
}
"""Names of each language after a fence, in lower case."""

OTHER_LANGUAGES = tuple(language for language in WORDS if language not in COLUMNS)
"""Optional columns."""

_OF_THE_OTHER = frozenset({"task_id", "entry_point", "test"})
"""Columns of LeetCodeDataset; any of them identifies a row without a slug."""

_OF_TESTS = (
    *("tests", "public_rule", "tags", "release_date", "starter_code", "entry_point", "signature"),
    *("preamble", "checker", "rule", "known_issues"),
)
"""Fields that go with a problem's tests."""


def read_rows(
    files: Iterable[RowFile], *, skip_bad_rows: bool = False, watch: Watch = quiet
) -> Loaded:
    """Read the problems of some files, JSONL, gzipped or not, or Parquet.

    Args:
        files: files with rows of greengerong/leetcode, of LeetCodeDataset or of both, in any order;
            a row's columns tell which it is.
        skip_bad_rows: as in `load_rows`.
        watch: function called with the progress in a large file.

    Returns:
        greengerong/leetcode's problems, in its order. LeetCodeDataset's rows of other problems are
        read, since an invalid one is an error all the same, and left out.

    Raises:
        UsageError: a file cannot be opened, or all rows are LeetCodeDataset's.
        DataError: a row does not match its data set's schema, or a slug is there twice in one.
    """
    loaded = load_rows(files, parse_any_row, skip_bad_rows=skip_bad_rows, watch=watch)
    problems = [problem for problem in loaded.problems if problem.source == "leetcode"]
    if loaded.problems and not problems:
        named = " ".join(file.path for file in loaded.files)
        raise UsageError(
            f"no good row of greengerong/leetcode is in {named}; "
            f"for the problems of LeetCodeDataset use leetcodedataset:{loaded.files[0].path}"
        )
    others = {each.native_id: each for each in loaded.problems if each.source != "leetcode"}
    joined = (
        with_tests_of(problem, others[problem.native_id])
        if problem.native_id in others
        else problem
        for problem in problems
    )
    return loaded._replace(problems=tuple(joined))


load = partial(load_paths, "leetcode", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def parse_any_row(line: Line) -> Problem:
    """Return the problem of one row of either data set, named by its `source`.

    Raises:
        DataError: a column is missing or invalid.
    """
    row = line.json_object()
    if "slug" not in row and not _OF_THE_OTHER.isdisjoint(row):
        return dataset.parse_row(line)
    return parse_row(line)


def with_tests_of(problem: Problem, tested: Problem) -> Problem:
    """Return a problem of greengerong/leetcode with the tests of LeetCodeDataset.

    Title, statement, difficulty and number stay; the solutions of both are its references.
    """
    both = {
        "load_references": partial(_references_of_both, problem, tested),
        "content_hash": content_hash(problem.content_hash, tested.content_hash),
    }
    return problem.model_copy(update={name: getattr(tested, name) for name in _OF_TESTS} | both)


def _references_of_both(problem: Problem, tested: Problem) -> tuple[Reference, ...]:
    return problem.load_references() + tested.load_references()


def parse_row(line: Line) -> Problem:
    """Return the problem of one row of greengerong/leetcode.

    Raises:
        DataError: a column is missing or invalid.
    """
    number, row = _columns(line)
    statement, references = row["content"], _references(row)
    checker = resolve(CHECKER_OF)(row["slug"])
    return Problem(
        id=f"leetcode/{row['slug']}",
        source="leetcode",
        title=row["title"],
        statement=statement,
        platform="leetcode",
        difficulty=LEVELS.get(row["difficulty"].lower()),
        difficulty_word=row["difficulty"],
        tests=TestSuite(public=()),
        preamble=preambles.LEETCODE,
        checker=checker,
        known_issues=issues_of_statement(statement, row["slug"], checked=checker is not None),
        load_references=lambda: references,
        aliases=(str(number), f"leetcode_{number}"),
        content_hash=with_checker(content_hash(statement, row["python"]), checker),
    )


def _references(row: dict[str, str]) -> tuple[Reference, ...]:
    """Return the solutions that are not blank."""
    codes = ((language, code_of(row.get(language, ""), language)) for language in WORDS)
    return tuple(
        Reference(code=code, language=language) for language, code in codes if code.strip()
    )


def _columns(line: Line) -> tuple[int, dict[str, str]]:
    row = line.json_object()
    if "id" not in row:
        raise DataError(line.where, "id", "missing")
    there = [*COLUMNS, *(name for name in OTHER_LANGUAGES if row.get(name) is not None)]
    columns = {name: text_column(row, name, line.where) for name in there}
    number = row["id"]
    if type(number) is not int:
        raise DataError(line.where, "id", f"not a whole number but {number!r:.60}")
    if not columns["slug"].strip():
        raise DataError(line.where, "slug", "empty")
    return number, columns


def code_of(text: str, language: str) -> str:
    """Return the first fenced block of a language, or of no other known one.

    Args:
        text: prose with code in it.
        language: a key of `WORDS`.

    Returns:
        The code; empty if there is none. An unclosed block ends with the text.
    """
    blocks = list(_blocks(text))
    words = WORDS[language]
    others = frozenset[str]().union(*WORDS.values()) - words
    codes = (code for word, code in blocks if word in words)
    unsaid = (code for word, code in blocks if word not in others)
    return next(codes, None) or next(unsaid, "")


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while opening := _FENCE.search(text, position):
        closing = _FENCE_END.search(text, opening.end())
        end = closing.start() if closing else len(text)
        yield opening["word"].lower(), text[opening.end() : end]
        position = closing.end() if closing else len(text)
