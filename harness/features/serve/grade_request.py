"""Request of `POST /grade`: solutions of known problems, or of given tests."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, cast

from pydantic import Field, ValidationInfo, field_validator, model_validator

from harness.errors import DataError
from harness.features.serve.requests import (
    TOO_LARGE,
    ParsedSize,
    Refusal,
    RequestBody,
    Text,
    read_json,
)
from harness.grading.jobs import Options
from harness.grading.stop import STOPS, Stop
from harness.languages import LanguageName
from harness.plugins import RuleName
from harness.problem import Problem, Signature, TestCase, TestSuite
from harness.sandbox.limits import MEBIBYTE
from harness.sources import preambles
from harness.sources.apps.apps_problem import read_suite
from harness.sources.files.row_checks import check_function_test

MOST_ITEMS = 10_000
LONGEST_TEST_S = 900.0
CODE = "code"
"""Given in place of an extraction rule: the text is the code."""


class GivenTest(RequestBody):
    """A test that the client sends.

    Attributes:
        input: standard input of a program; for a function one JSON value a line, an argument each.
        output: expected output of a program; for a function its expected value as JSON.
    """

    input: str
    output: str


class JudgingChanges(RequestBody):
    """Settings of judging that differ from those with which the server was started.

    Attributes:
        language: language of the solution.
        reward: `passed`: 1 if every test passed, else 0; `fraction`: the share of tests passed,
            or of the points.
        extract: rule that finds code in a text: `harness`, `lcb`, or `code` if the text is the
            code.
        test_timeout: CPU seconds of each test.
        wall_timeout: wall seconds of each test, for programs that sleep.
        memory: MiB of each test, within the server's limit.
        all_tests: true: run every test; false: stop at the first failure.
    """

    language: LanguageName | None = None
    rule: RuleName | None = None
    reward: Literal["passed", "fraction"] | None = None
    extract: str | None = None
    test_timeout: float | None = Field(None, gt=0, le=LONGEST_TEST_S)
    wall_timeout: float | None = Field(None, gt=0, le=3 * LONGEST_TEST_S)
    memory: int | None = Field(None, gt=0)
    all_tests: bool | None = None


class SolutionItem(JudgingChanges):
    """One solution.

    Attributes:
        id: the client's id for it, repeated in the answer.
        problem: name of a problem of the server.
        tests: tests, instead of `problem`.
        input_output: tests as in the rows of APPS, TACO and verl, instead of `problem`: an object
            with `inputs`, `outputs` and, for a function, `fn_name`, or its JSON, as in APPS. The
            inputs of a function are lists of arguments, as in APPS, or texts of one JSON value a
            line, as in verl's rows.
        entry_point: function or `Solution` method to call; only with `tests`.
        code: the solution.
        text: the model's text, which contains the solution, instead of `code`.
    """

    id: str | int | None = None
    problem: str | None = None
    tests: tuple[GivenTest, ...] | None = None
    input_output: dict[str, Any] | None = None
    entry_point: str | None = None
    code: Text | None = None
    text: Text | None = None

    @property
    def tests_sent(self) -> int:
        """Number of tests that it brings; 0 for a problem of the server."""
        if self.tests is not None:
            return len(self.tests)
        inputs = (self.input_output or {}).get("inputs")
        return len(cast("list[Any]", inputs)) if isinstance(inputs, list) else 0

    @field_validator("input_output", mode="before")
    @classmethod
    def _parsed(cls, column: object, info: ValidationInfo) -> object:
        if not isinstance(column, str):
            return column
        try:
            return read_json(column.encode(), cast("ParsedSize", info.context))
        except (Refusal, UnicodeError) as error:
            if isinstance(error, Refusal) and error.status == TOO_LARGE:
                raise
            raise ValueError("its text is not JSON") from None

    @model_validator(mode="after")
    def _one_of_each(self) -> "SolutionItem":
        places = (self.problem, self.tests, self.input_output)
        if sum(each is not None for each in places) != 1:
            raise ValueError("give one of problem, tests and input_output")
        if (self.code is None) == (self.text is None):
            raise ValueError("give one of code and text")
        if self.entry_point is not None and self.tests is None:
            raise ValueError("entry_point goes with tests")
        return self


class SolutionBatch(JudgingChanges):
    """Many solutions; its settings apply to items that do not set them."""

    items: tuple[SolutionItem, ...] = Field(min_length=1, max_length=MOST_ITEMS)

    def each(self) -> tuple[SolutionItem, ...]:
        """Return the items with all their settings."""
        common = {name: getattr(self, name) for name in JudgingChanges.model_fields}
        return tuple(
            item.model_copy(
                update={
                    name: value for name, value in common.items() if getattr(item, name) is None
                }
            )
            for item in self.items
        )


def options_for(item: SolutionItem, usual: Options, most_memory: int) -> Options:
    """Return the options with which an item is judged.

    Args:
        item: the item, whose settings take precedence.
        usual: the server's options.
        most_memory: most bytes that a test may use.

    Raises:
        Refusal: 422, the item asks for more memory.
    """
    memory = usual.memory_bytes if item.memory is None else item.memory * MEBIBYTE
    if memory is not None and memory > most_memory:
        raise Refusal(422, f"memory: at most {most_memory // MEBIBYTE} MiB here")
    stop = usual.stop if item.all_tests is None else STOPS[item.all_tests]
    if item.all_tests is None and item.reward == "fraction":
        stop = Stop.LATE  # else the reward would depend on where judging stopped
    return replace(
        usual,
        rule=item.rule or usual.rule,
        cpu_s=item.test_timeout or usual.cpu_s,
        wall_s=item.wall_timeout or usual.wall_s,
        memory_bytes=memory,
        stop=stop,
    )


def given_problem(item: SolutionItem) -> Problem:
    """Make a problem of an item's tests.

    LiveCodeBench's preamble is put before the solution, as models often omit imports. Every test is
    public, since the client knows it.

    Raises:
        Refusal: 422, `input_output` does not have APPS' form, or a test of a function is not JSON.
    """
    if item.tests is None and item.input_output is not None and _has_lines(item.input_output):
        return _of_lines(item.input_output)
    if item.tests is None:
        try:
            suite = read_suite(json.dumps(item.input_output), "", "input_output")
        except DataError as error:
            raise Refusal(422, str(error)) from None
        return _problem(suite.entry_point, suite.signature, suite.tests)
    return _of_pairs(item.entry_point, [(test.input, test.output) for test in item.tests], "tests")


def _of_pairs(entry_point: str | None, pairs: Iterable[tuple[str, str]], field: str) -> Problem:
    """Make a problem of inputs and outputs. Raises Refusal for a function's that are not JSON."""
    tests = tuple(TestCase(input=given, output=wanted, public=True) for given, wanted in pairs)
    for number, test in enumerate(tests if entry_point else (), start=1):
        try:
            check_function_test(test.input, test.output, field, field)
        except DataError as error:
            raise Refusal(422, f"{field}: test {number}: {error.what}") from None
    return _problem(entry_point, Signature(), tests)


def _has_lines(column: dict[str, Any]) -> bool:
    """Whether the inputs of a function are texts with an argument a line."""
    inputs = column.get("inputs")
    if not isinstance(column.get("fn_name"), str) or not isinstance(inputs, list) or not inputs:
        return False
    return all(isinstance(each, str) for each in cast("list[Any]", inputs))


def _of_lines(column: dict[str, Any]) -> Problem:
    """Make a problem of a column with such inputs. Raises Refusal."""
    inputs, name = cast("list[str]", column["inputs"]), cast("str", column["fn_name"])
    outputs = cast("list[Any]", column.get("outputs"))
    if not isinstance(column.get("outputs"), list) or len(outputs) != len(inputs):
        raise Refusal(422, "input_output: give as many outputs as inputs")
    if not name.isidentifier():
        raise Refusal(422, f"input_output: fn_name {name!r:.60} is not a Python name")
    results = (each if isinstance(each, str) else json.dumps(each) for each in outputs)
    return _of_pairs(name, zip(inputs, results, strict=True), "input_output")


def _problem(entry_point: str | None, signature: Signature, tests: tuple[TestCase, ...]) -> Problem:
    public = tuple(
        each if each.public else each.model_copy(update={"public": True}) for each in tests
    )
    digest = hashlib.sha256()
    for test in public:
        for text in (test.input, test.output):
            digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return Problem(
        id=f"request/{digest.hexdigest()[:16]}",
        source="request",
        title="",
        statement="",
        platform="",
        difficulty=None,
        difficulty_word="",
        entry_point=entry_point,
        signature=signature,
        tests=TestSuite(public),
        preamble=preambles.LIVECODEBENCH,
        content_hash=digest.hexdigest(),
    )
