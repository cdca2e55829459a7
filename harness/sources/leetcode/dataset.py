"""LeetCodeDataset's rows, in either of the data set's schemas.

The data set is https://github.com/newfacade/LeetCodeDataset. Since v0.3.0 every field is a column;
before, `meta` holds the statement (under `question_title`), the starter code (`lang_code`), the
difficulty and the number, and there are no tags and dates. The tests are the assertions of the
`test` column: upstream calls the entry point and compares its result. `input_output` is text for
display: some of it is error messages, and none of it is a test.

Parsing all assertions takes seconds, so a load parses only those that may be public.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from functools import cached_property, partial
from itertools import islice, pairwise
from typing import NamedTuple, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import DataError
from harness.problem import Level, Problem, Signature, TestCase, TestSuite
from harness.registry import CHECKER_OF, resolve
from harness.sources import preambles, public_split
from harness.sources.files.content_hash import content_hash, with_checker
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import name_fault, references_of
from harness.sources.files.rows import LEVELS, load_paths, load_rows
from harness.sources.leetcode import assertions
from harness.sources.literals import Call, UnreadableError
from harness.sources.problem_names import issues_of_statement
from harness.sources.signature import EntryPoint, entry_point_of
from harness.sources.statement_examples import Example, examples, in_order, is_shown_as

_ENTRY_POINT = re.compile(r"(?:Solution\(\)\.)?(\w+)")
_LEVELS: dict[str, Level] = {**LEVELS, "meidum": "medium"}  # the spelling of 21 rows of v0.2.0
_ROMAN = frozenset({"i", "ii", "iii", "iv", "v", "vi"})
_LOWER = bytes(range(256)).lower()
_OTHERS = bytes({*range(256)} - {*b"0123456789", *_LOWER[65:91], *range(65, 91)})
_UNREAD = TestCase(input="", output="", public=False)
_OLD_NAMES = {
    "question_id": "question_id",
    "difficulty": "difficulty",
    "problem_description": "question_title",
    "starter_code": "lang_code",
}
"""Columns of the newer schema, and their names in the older one's `meta`."""
_HEAD = re.compile(r"\s*def check\(candidate\):[ \t]*(?:#[^\n]*)?\r?\n")
_START = re.compile(r"^[ \t]+assert\b", re.MULTILINE)


class _DatasetRow(BaseModel):
    """Row of either schema, with the newer one's names."""

    model_config = ConfigDict(frozen=True, strict=True)

    task_id: str
    question_id: int | str
    difficulty: str
    problem_description: str
    starter_code: str
    entry_point: str
    completion: str
    test: str
    tags: tuple[str, ...] = ()
    estimated_date: str | None = None
    prompt: str = ""

    @property
    def preamble(self) -> str:
        """Preamble of the row. Some prompts import SortedList; other differences do not matter."""
        sorted_too = "SortedList" in self.prompt
        return preambles.LEETCODEDATASET_SORTED if sorted_too else preambles.LEETCODEDATASET

    @property
    def content_hash(self) -> str:
        return content_hash(
            self.problem_description,
            self.starter_code,
            self.entry_point,
            self.completion,
            self.test,
            self.preamble,
        )


def parse_row(line: Line) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: a column is missing or invalid.
    """
    row = _columns(line)
    tests = _Tests(row, line.where)
    split = tests.public_ones()
    checker = resolve(CHECKER_OF)(row.task_id)
    return Problem(
        id=f"leetcodedataset/{row.task_id}",
        source="leetcodedataset",
        title=_title(row.task_id),
        statement=row.problem_description,
        platform="leetcode",
        difficulty=_LEVELS.get(row.difficulty.lower()),
        difficulty_word=row.difficulty,
        tags=row.tags,
        release_date=_release_date(row.estimated_date, line.where),
        starter_code=row.starter_code,
        entry_point=tests.entry_point,
        signature=tests.signature,
        tests=TestSuite(
            public=split.public,
            load_hidden=tests.hidden_ones,
        ),
        public_rule=split.rule,
        preamble=row.preamble,
        checker=checker,
        known_issues=issues_of_statement(
            row.problem_description, row.task_id, checked=checker is not None
        ),
        rule="equality",
        load_references=partial(references_of, row.completion),
        aliases=(str(row.question_id), f"leetcode_{row.question_id}"),
        content_hash=with_checker(row.content_hash, checker),
    )


read_rows = partial(load_rows, parse=parse_row)
"""Read the problems of some files, in order."""

load = partial(load_paths, "leetcodedataset", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def _columns(line: Line) -> _DatasetRow:
    row = {name: value for name, value in line.json_object().items() if value is not None}
    names: dict[str, str] = {}
    meta = row.get("meta")
    if isinstance(meta, dict):
        meta = cast("dict[str, object]", meta)
        row |= {name: meta[old] for name, old in _OLD_NAMES.items() if old in meta}
        names = {name: f"meta.{old}" for name, old in _OLD_NAMES.items()}
    if isinstance(row.get("tags"), list):
        row["tags"] = tuple(cast("list[object]", row["tags"]))
    try:
        columns = _DatasetRow.model_validate(row)
    except ValidationError as error:
        fault = name_fault(line.where, error)
        name = (fault.field or "").partition(".")[0]
        raise DataError(line.where, names.get(name, name), fault.what) from None
    if not columns.task_id.strip():
        raise DataError(line.where, "task_id", "empty")
    return columns


def _title(slug: str) -> str:
    """Return the slug in words; the data have no other title."""
    words = slug.replace("-", " ").split()
    return " ".join(word.upper() if word in _ROMAN else word.capitalize() for word in words)


def _release_date(text: str | None, where: str) -> date | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        raise DataError(where, "estimated_date", f"{text!r:.60} is not an ISO date") from None


class _Case(NamedTuple):
    """Arguments of an assertion, in order, and the expected value."""

    arguments: tuple[object, ...]
    expected: object


class _Tests:
    """Tests of a row, each parsed when it is needed.

    Raises:
        DataError: the row has no entry point or no assertions; every method raises it for an
            assertion that cannot be translated.
    """

    def __init__(self, row: _DatasetRow, where: str) -> None:
        self._row = row
        self._where = where
        entry_point = _ENTRY_POINT.fullmatch(row.entry_point.strip())
        if entry_point is None or not entry_point[1].isidentifier():
            raise DataError(where, "entry_point", f"{row.entry_point!r:.60} is not Solution().name")
        self.entry_point = entry_point[1]
        try:
            self._assertions = split_check(row.test)
        except UnreadableError as error:
            raise DataError(where, "test", str(error)) from None
        self._cases: dict[int, _Case] = {}

    def public_ones(self) -> public_split.Split:
        """Split off the public tests; hidden ones are placeholders that are not parsed."""
        shown = self._shown
        first = range(0) if any(shown) else range(public_split.FIRST)
        tests = [
            self._test(index) if is_shown or index in first else _UNREAD
            for index, is_shown in enumerate(shown)
        ]
        return public_split.split(tests, shown)

    def hidden_ones(self) -> tuple[TestCase, ...]:
        """Return the hidden tests."""
        tests = [self._test(index) for index in range(len(self._assertions))]
        return public_split.split(tests, self._shown).hidden

    @cached_property
    def signature(self) -> Signature:
        """Codecs of the annotations, corrected by the first assertions and the first with nodes."""
        signature = self._code.signature if self._code else Signature()
        for index in sorted({*range(public_split.FIRST), *self._with_nodes()}):
            if index < len(self._assertions):
                try:
                    signature = assertions.with_codecs(signature, *self._case(index))
                except UnreadableError as error:
                    raise self._error(index, error) from None
        return signature

    def _with_nodes(self) -> set[int]:
        """Return the first assertion with a linked list, and the first one with a tree."""
        numbers: set[int] = set()
        for word in ("list_node(", "tree_node("):
            if word in self._row.test:
                holders = (index for index, text in enumerate(self._assertions) if word in text)
                numbers |= {*islice(holders, 1)}
        return numbers

    @cached_property
    def _code(self) -> EntryPoint | None:
        return entry_point_of(self._row.starter_code, self.entry_point) or self._reference

    @cached_property
    def _reference(self) -> EntryPoint | None:
        return entry_point_of(self._row.completion, self.entry_point)

    def _entries(self) -> Iterator[EntryPoint]:
        """Yield the entry point of the starter code, then that of the reference."""
        if self._code:
            yield self._code
        if self._reference:
            yield self._reference

    @cached_property
    def _shown(self) -> list[bool]:
        """For each assertion, whether it is one of the statement's examples."""
        shown = [False] * len(self._assertions)
        pairs = examples(self._row.problem_description)
        squashed = [_squash(text) for text in self._assertions] if pairs else []
        for example in pairs:
            parts = [_squash(repr(value)) for _, value in example.arguments]
            for index, text in enumerate(squashed):
                if all(part in text for part in parts) and not shown[index]:
                    shown[index] = self._is(index, example)
        return shown

    def _is(self, index: int, example: Example) -> bool:
        arguments, expected = self._case(index)
        parameters = self._code.parameters[: len(arguments)] if self._code else ()
        given = in_order(example, parameters)
        return (
            given is not None
            and assertions.plain([*arguments]) == [*given]
            and is_shown_as(assertions.plain(expected), example.expected)
        )

    def _case(self, index: int) -> _Case:
        if index not in self._cases:
            try:
                assertion = assertions.read_assertion(self._assertions[index])
                arguments = bind(assertion.call, self._entries())
            except UnreadableError as error:
                raise self._error(index, error) from None
            self._cases[index] = _Case(arguments, assertion.expected)
        return self._cases[index]

    def _test(self, index: int) -> TestCase:
        try:
            return assertions.to_test(*self._case(index), self.signature)
        except UnreadableError as error:
            raise self._error(index, error) from None

    def _error(self, index: int, error: UnreadableError) -> DataError:
        return DataError(self._where, "test", f"assertion {index + 1}: {error}")


def _squash(text: str) -> bytes:
    """Return the letters and digits of values, which are the same in any notation.

    Only the assertions found by them are parsed.
    """
    return text.encode("ascii", "ignore").translate(_LOWER, _OTHERS)


def bind(call: Call, entries: Iterable[EntryPoint]) -> tuple[object, ...]:
    """Return a call's arguments in the order of the parameters.

    Args:
        call: the arguments.
        entries: definitions of the entry point in different codes, the most trusted first. The
            first one that the call fits defines the order: a data set's tests may use the parameter
            names of its reference, which its starter code has renamed.

    Returns:
        An argument for each parameter, without the last ones where these have defaults.

    Raises:
        UnreadableError: the call fits none.
    """
    complaints: list[str] = []
    for entry in entries:
        try:
            return _bind(call, entry)
        except UnreadableError as error:
            complaints.append(str(error))
    raise UnreadableError(complaints[0] if complaints else "there is no code to say the parameters")


def _bind(call: Call, entry: EntryPoint) -> tuple[object, ...]:
    rest = entry.parameters[len(call.positional) :]
    if len(call.positional) > len(entry.parameters):
        raise UnreadableError(f"{len(call.positional)} arguments for {len(entry.parameters)}")
    for name in call.named:
        if name not in rest:
            raise UnreadableError(f"{name!r} is not a parameter, or is given twice")
    given = len(call.positional) + len(call.named)
    for name in rest[: len(call.named)]:
        if name not in call.named:
            raise UnreadableError(f"no argument for {name!r}")
    if given < entry.required:
        raise UnreadableError(f"no argument for {entry.parameters[given]!r}")
    return call.positional + tuple(call.named[name] for name in rest[: len(call.named)])


def split_check(source: str) -> tuple[str, ...]:
    """Split a `check` function into the texts of its assertions, without parsing them.

    An assertion starts with a line and ends before the next one that starts with `assert`. Any
    other text in between becomes part of it and makes it unreadable.

    Raises:
        UnreadableError: the text does not start as such a function does.
    """
    head = _HEAD.match(source)
    if head is None:
        raise UnreadableError("not a function check(candidate)")
    starts = [match.start() for match in _START.finditer(source, head.end())]
    bounds = [*starts, len(source)]
    before = source[head.end() : bounds[0]].strip()
    if before and (starts or before != "pass"):
        raise UnreadableError(f"{before[:60]!r} is not an assertion")
    return tuple(source[start:end].strip() for start, end in pairwise(bounds))
