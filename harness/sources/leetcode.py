"""LeetCode's problems as greengerong/leetcode has them: statements and references, no tests.

A row has a number, a slug, a title, a difficulty, a statement in Markdown, and a solution in each
of four languages, the Python one inside prose. The tests are the statement's examples, all public;
an example that cannot be read as values is none, and a problem without any has no tests.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import cast

from harness.errors import DataError, UsageError
from harness.problem import Codec, Problem, Signature, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.assertions import plain, to_test
from harness.sources.examples import Example, examples, in_order
from harness.sources.literals import Nodes, UnreadableError
from harness.sources.parquet import open_rows
from harness.sources.reading import Line, expand
from harness.sources.rows import LEVELS, Loaded, content_hash, load_rows, references_of
from harness.sources.signature import signature_of
from harness.sources.starter import Starter, starter_of

COLUMNS = ("slug", "title", "difficulty", "content", "python")
"""The columns that are read, besides `id`; they hold strings."""

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?P<word>\w*)[^\n]*\n", re.MULTILINE)
_FENCE_END = re.compile(r"^[ \t]*```", re.MULTILINE)
_MANY = {Codec.LINKED_LISTS: Codec.LINKED_LIST, Codec.TREES: Codec.TREE}


def load(where: str | None, *, skip_bad_rows: bool = False) -> Loaded:
    """The problems of the files that a path or glob names.

    Raises:
        UsageError: no file is given, or none is there.
        DataError: a row is not as the data set's schema says.
    """
    if where is None:
        raise UsageError("leetcode needs a file: give leetcode:PATH")
    return load_rows(map(open_rows, expand(where)), parse_row, skip_bad_rows=skip_bad_rows)


def parse_row(line: Line) -> Problem:
    """The problem of one row.

    Raises:
        DataError: a column is missing or not as it should be.
    """
    number, row = _columns(line)
    statement, reference = row["content"], _code(row["python"])
    shown = examples(statement)
    starter = starter_of(
        reference,
        slug=row["slug"],
        statement=statement,
        names=[frozenset(name or "" for name, _ in example.arguments) for example in shown],
    )
    signature = signature_of(starter.code, starter.entry_point) if starter else Signature()
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
        tests=TestSuite(public=_tests(shown, starter, signature)),
        public_rule="statement",
        preamble=preambles.LEETCODE,
        load_references=partial(references_of, reference),
        aliases=(str(number), f"leetcode_{number}"),
        content_hash=content_hash(statement, row["python"]),
    )


def _columns(line: Line) -> tuple[int, dict[str, str]]:
    row = line.json_object()
    for name in ("id", *COLUMNS):
        if name not in row:
            raise DataError(line.where, name, "missing")
    for name in COLUMNS:
        if not isinstance(row[name], str):
            raise DataError(line.where, name, f"not a string but {row[name]!r:.60}")
    number = row["id"]
    if type(number) is not int:
        raise DataError(line.where, "id", f"not a whole number but {number!r:.60}")
    columns = {name: cast("str", row[name]) for name in COLUMNS}
    if not columns["slug"].strip():
        raise DataError(line.where, "slug", "empty")
    return number, columns


def _code(text: str) -> str:
    """The first fenced block, or the first one that says Python; nothing where there is none."""
    blocks: list[tuple[str, str]] = []
    position = 0
    while opening := _FENCE.search(text, position):
        closing = _FENCE_END.search(text, opening.end())
        end = closing.start() if closing else len(text)
        blocks.append((opening["word"].lower(), text[opening.end() : end]))
        position = closing.end() if closing else len(text)
    python = [code for word, code in blocks if word in {"python", "python3", "py"}]
    return next(iter([*python, *(code for _, code in blocks)]), "")


def _tests(
    shown: Sequence[Example], starter: Starter | None, signature: Signature
) -> tuple[TestCase, ...]:
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
    """Whether the input is a list of methods' names, and one of the arguments of each."""
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
    """What a statement shows as the result, as the codec that it is written with has it.

    Raises:
        UnreadableError: it cannot be that.
    """
    changed = signature.arguments[0] if signature.arguments else Codec.JSON
    if signature.result is not Codec.FIRST_ARGUMENT or changed is Codec.JSON:
        return _as(signature.result, value)
    return _without_end(plain(_as(changed, value))) if changed is Codec.TREE else value


def _without_end(values: object) -> object:
    """The values of a tree as results are written, without empty places at the end."""
    items = [*cast("list[object]", values)]
    while items and items[-1] is None:
        items.pop()
    return items


def _as(codec: Codec, value: object) -> object:
    """A value that a statement shows, as its codec has it.

    Raises:
        UnreadableError: it cannot be that, as a number that stands for a node, or a node's value
            with its place in the list, as where nodes point at others.
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
