"""LeetCode's problems: greengerong/leetcode, with tests of LeetCodeDataset.

A row of greengerong/leetcode has a number, a slug, a title, a difficulty, a statement in Markdown,
and a solution in each of four languages, inside prose. It has no tests. If the files contain a row
of newfacade/LeetCodeDataset with the same slug, the problem gets that row's tests and the fields
that go with them. Otherwise its tests are the statement's examples, all public and unchecked; an
example that cannot be read as values is ignored, and a problem without any has no tests.

A row of LeetCodeDataset without one of greengerong/leetcode is ignored and not counted: the source
`leetcodedataset` has them all.

An example that does not fit the function makes no test: one with another number of arguments, one
that shows a node as a number, one of a class's calls.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from harness.errors import DataError, UsageError
from harness.markdown import WORDS, code_of
from harness.problem import Codec, Problem, Reference, Signature, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.checkers import checker_of
from harness.sources.files.catalogue import RowFile
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import Line
from harness.sources.files.rows import (
    LEVELS,
    Loaded,
    content_hash,
    load_paths,
    load_rows,
    text_column,
    with_checker,
)
from harness.sources.leetcode import dataset
from harness.sources.leetcode.assertions import plain, to_test, trimmed
from harness.sources.leetcode.starter import Starter, starter_of
from harness.sources.literals import Nodes, UnreadableError
from harness.sources.problem_names import issues_of_statement
from harness.sources.public_examples import Example, examples, in_order
from harness.sources.signature import signature_of

_MANY = {Codec.LINKED_LISTS: Codec.LINKED_LIST, Codec.TREES: Codec.TREE}


def tests_of(
    shown: Sequence[Example], starter: Starter | None, signature: Signature
) -> tuple[TestCase, ...]:
    """Return the tests of a statement's examples, all public.

    Args:
        shown: examples of the statement.
        starter: function to call; None where it is unknown, which gives no tests.
        signature: signature of the function.
    """
    tests = [_test(example, starter, signature) for example in shown] if starter else []
    return tuple(test for test in tests if test is not None)


def _test(example: Example, starter: Starter, signature: Signature) -> TestCase | None:
    arguments = in_order(example, starter.parameters)
    if arguments is None or _is_of_a_class(example):
        return None
    try:
        values = [
            _as(codec, value) for codec, value in zip(signature.arguments, arguments, strict=True)
        ]
        test = to_test(values, _expected(example.expected, signature), signature)
    except UnreadableError:
        return None
    return test.model_copy(update={"public": True})


def _is_of_a_class(example: Example) -> bool:
    """Return whether the input is a list of methods' names and a list of their arguments."""
    if [name for name, _ in example.arguments] != [None, None]:
        return False
    names, calls = (value for _, value in example.arguments)
    if not isinstance(names, list) or not isinstance(calls, list):
        return False
    names, calls = cast("list[object]", names), cast("list[object]", calls)
    return (
        len(names) == len(calls) > 0
        and all(isinstance(name, str) and name.isidentifier() for name in names)
        and all(isinstance(call, list) for call in calls)
    )


def _expected(value: object, signature: Signature) -> object:
    """Return the result that a statement shows, converted to its codec.

    Raises:
        UnreadableError: it does not fit the codec.
    """
    changed = signature.arguments[0] if signature.arguments else Codec.JSON
    if signature.result is not Codec.FIRST_ARGUMENT or changed is Codec.JSON:
        return _as(signature.result, value)
    return plain(trimmed(_as(changed, value))) if changed is Codec.TREE else value


def _as(codec: Codec, value: object) -> object:
    """Return a value that a statement shows, converted to its codec.

    Raises:
        UnreadableError: it does not fit the codec: a number that stands for a node, or a node's
            value with its place in the list, as where nodes point at others.
    """
    if codec in {Codec.JSON, Codec.FIRST_ARGUMENT}:
        return value
    if value is not None and not isinstance(value, list):
        raise UnreadableError(f"{value!r:.60} is no {codec.replace('_', ' ')}")
    items = cast("list[object]", value or [])
    if codec in _MANY:
        return [_as(_MANY[codec], item) for item in items]
    if any(isinstance(item, list) for item in items):
        raise UnreadableError("a node's value is a list")
    return Nodes(codec, items)


COLUMNS = ("slug", "title", "difficulty", "content", "python")
"""Required columns of a row of greengerong/leetcode, besides `id`; they hold strings."""

OTHER_LANGUAGES = tuple(language for language in WORDS if language not in COLUMNS)
"""Optional columns."""

_OF_THE_OTHER = frozenset({"task_id", "entry_point", "test"})
"""Columns of LeetCodeDataset; any of them identifies a row without a slug."""


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
    return replace(loaded, problems=tuple(joined))


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


_OF_TESTS = (
    *("tests", "public_rule", "tags", "release_date", "starter_code", "entry_point", "signature"),
    *("preamble", "checker", "rule", "known_issues"),
)
"""Fields that go with a problem's tests."""


def with_tests_of(problem: Problem, tested: Problem) -> Problem:
    """Return a problem of greengerong/leetcode with the tests of LeetCodeDataset.

    Title, statement, difficulty and number stay; the solutions of both are its references.
    """
    both = {
        "unchecked": False,
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
    reference = next((each.code for each in references if each.language == "python"), "")
    shown = examples(statement)
    starter = starter_of(
        reference,
        slug=row["slug"],
        statement=statement,
        names=[frozenset(name or "" for name, _ in example.arguments) for example in shown],
    )
    signature = signature_of(starter.code, starter.entry_point) if starter else Signature()
    tests = tests_of(shown, starter, signature)
    checker = checker_of(row["slug"])
    return Problem(
        id=f"leetcode/{row['slug']}",
        source="leetcode",
        title=row["title"],
        statement=statement,
        platform="leetcode",
        difficulty=LEVELS.get(row["difficulty"].lower()),
        difficulty_word=row["difficulty"],
        starter_code=starter.code if starter else "",
        entry_point=starter.entry_point if starter else None,
        signature=signature,
        tests=TestSuite(public=tests),
        unchecked=bool(tests),
        public_rule="statement",
        preamble=preambles.LEETCODE,
        checker=checker,
        known_issues=issues_of_statement(statement, row["slug"], checked=checker is not None),
        load_references=lambda: references,
        aliases=(str(number), f"leetcode_{number}"),
        content_hash=with_checker(content_hash(statement, row["python"]), checker),
    )


def _references(row: dict[str, str]) -> tuple[Reference, ...]:
    """Return the solutions that are not blank."""
    found = ((language, code_of(row.get(language, ""), language)) for language in WORDS)
    return tuple(
        Reference(code=code, language=language) for language, code in found if code.strip()
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
