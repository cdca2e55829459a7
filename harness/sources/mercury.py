"""Mercury's rows (Elfsong/Mercury on the Hugging Face hub), as Parquet or JSONL.

Each row has its own hooks: `convert_offline` makes a call's arguments from a test's and
`evaluate_offline` returns whether the call was right. They become the problem's checker and run
only in the sandbox. `generator_code` is ignored.

The reference for the meaning of a row is `src/sandbox.py` of https://github.com/Elfsong/Mercury.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import to_json

from harness.errors import DataError
from harness.judged_by import Checker
from harness.problem import Problem, Reference, Signature, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.files.content_hash import content_hash as hash_of
from harness.sources.files.json_text import elements, members, one_line
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import name_fault
from harness.sources.files.rows import LEVELS, load_paths, load_rows
from harness.sources.public_split import Split, split
from harness.sources.signature import signature_of
from harness.sources.statement_examples import Example, examples, is_shown_as

RECORDED = 40  # characters kept of a run time


class _MercuryColumns(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _null_is_missing(cls, row: object) -> object:
        """Treat null as missing: LeetCode uses it for hidden fields, as of paid problems."""
        if not isinstance(row, dict):
            return row
        columns = cast("dict[str, object]", row)
        return {name: value for name, value in columns.items() if value is not None}


class _Tag(_MercuryColumns):
    name: str


class _Question(_MercuryColumns):
    """LeetCode's own data about a problem."""

    content: str = ""
    questionTitle: str = ""  # noqa: N815 - LeetCode's spelling
    topicTags: tuple[_Tag, ...] = ()  # noqa: N815 - as above


class _MercuryData(_MercuryColumns):
    question: _Question = _Question()


class _Meta(_MercuryColumns):
    data: _MercuryData = _MercuryData()


class _Solution(_MercuryColumns):
    solution: str
    runtime: Any = None


class _Row(_MercuryColumns):
    """Columns that are read; those without a default must be there."""

    slug_name: str
    entry_point: str
    test_cases: str | list[dict[str, Any]]
    convert_offline: str
    evaluate_offline: str
    id: int | str | None = None
    difficulty: str = ""
    prompt: str = ""
    pretty_content: tuple[str, ...] | str = ()
    meta_info: _Meta = _Meta()
    solutions: tuple[_Solution, ...] = ()

    @property
    def statement(self) -> str:
        pretty = self.pretty_content
        text = pretty if isinstance(pretty, str) else next(iter(pretty), "")
        return text or self.meta_info.data.question.content

    @property
    def cases(self) -> str:
        """The tests, as JSON."""
        column = self.test_cases
        return column if isinstance(column, str) else to_json(column).decode()

    @property
    def signature(self) -> Signature:
        """Signature by starter code or first solution, for a rule that replaces the hooks."""
        code = self.prompt or next((each.solution for each in self.solutions), "")
        return signature_of(code, self.entry_point)

    @property
    def content_hash(self) -> str:
        call = (self.prompt, self.entry_point, self.signature.model_dump_json())
        hooks = (self.convert_offline, self.evaluate_offline)
        return hash_of(self.statement, *call, *hooks, self.cases)


def parse_row(line: Line) -> Problem:
    """Return the problem of one row.

    Raises:
        DataError: a column is missing or invalid.
    """
    row = _read(line)
    tests = _tests(row, line.where)
    question = row.meta_info.data.question
    return Problem(
        id=f"mercury/{row.slug_name}",
        source="mercury",
        title=question.questionTitle or row.slug_name.replace("-", " ").capitalize(),
        statement=row.statement,
        platform="leetcode",
        difficulty=LEVELS.get(row.difficulty.lower()),
        difficulty_word=row.difficulty,
        tags=tuple(tag.name for tag in question.topicTags),
        starter_code=row.prompt,
        entry_point=row.entry_point,
        signature=row.signature,
        tests=TestSuite(tests.public, partial(tuple[TestCase, ...], tests.hidden)),
        public_rule=tests.rule,
        preamble=preambles.MERCURY,
        checker=Checker(
            kind="hooks",
            code=f"{row.convert_offline}\n\n{row.evaluate_offline}\n",
            preamble=preambles.MERCURY,
        ),
        load_references=partial(_references, row.solutions),
        aliases=() if row.id is None else (f"mercury_{row.id}",),
        content_hash=row.content_hash,
    )


read_rows = partial(load_rows, parse=parse_row)
"""Read the problems of some files, in order."""

load = partial(load_paths, "mercury", read=read_rows)
"""Load the problems of the files that a path or glob names."""


def _read(line: Line) -> _Row:
    try:
        row = _Row.model_validate_json(line.text())
    except ValidationError as error:
        line.json_object()  # has a better message for an invalid line than the model
        raise name_fault(line.where, error) from None
    if not row.slug_name.strip():
        raise DataError(line.where, "slug_name", "empty")
    if not row.entry_point.isidentifier():
        raise DataError(line.where, "entry_point", f"{row.entry_point!r:.60} is not a Python name")
    return row


def _references(solutions: Sequence[_Solution]) -> tuple[Reference, ...]:
    """Return the solutions that are not blank, with the run times from LeetCode's site."""
    return tuple(
        Reference(code=each.solution, recorded=str(each.runtime or "")[:RECORDED])
        for each in solutions
        if each.solution.strip()
    )


def _tests(row: _Row, where: str) -> Split:
    tests: list[TestCase] = []
    try:
        cases = elements(row.cases)
    except ValueError as error:
        raise DataError(where, "test_cases", str(error)) from None
    try:
        for case in cases:
            parts = members(case)
            arguments = "\n".join(map(one_line, elements(parts["input"])))
            expected = one_line(parts["expected"])
            tests.append(TestCase(input=arguments, output=expected, public=False))
    except KeyError as error:
        raise DataError(where, "test_cases", f"test {len(tests) + 1}: no {error}") from None
    except ValueError as error:
        raise DataError(where, "test_cases", f"test {len(tests) + 1}: {error}") from None
    shown = examples(row.statement)
    return split(tests, [_is_shown(test, shown) for test in tests])


def _is_shown(test: TestCase, shown: Sequence[Example]) -> bool:
    if not shown:
        return False
    try:
        arguments = [json.loads(line) for line in test.input.split("\n")] if test.input else []
        expected = json.loads(test.output)
    except (ValueError, RecursionError):  # more digits than a statement shows
        return False
    return any(
        [value for _, value in example.arguments] == arguments
        and is_shown_as(expected, example.expected)
        for example in shown
    )
