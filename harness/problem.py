"""Problems, their tests, and the part of a problem that a model may see."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Literal

from pydantic import ConfigDict

from harness.frozen import Frozen
from harness.judged_by import Checker
from harness.scoring import Scoring

Level = Literal["easy", "medium", "hard"]
PublicRule = Literal["source", "statement", "first"]
Judge = Literal["rule", "checker", "dialogue"]

MOST_TAGS = 5
LONGEST_LOOK, LONGEST_FIRST = 5_000, 200  # characters of a statement that `str` searches, and shows
PARTIAL = "partially_accepted"
"""Expected of a known solution that its problem's grader accepts with a part of the points."""


class Kind(StrEnum):
    """What a problem asks for: code, or the value of a call.

    A problem other than code generation has one test, which is hidden and has the answer as
    output.
    """

    CODE_GENERATION = "code_generation"
    TEST_OUTPUT_PREDICTION = "test_output_prediction"  # of the function described in the statement
    CODE_EXECUTION = "code_execution"  # of the program shown to the model


class TestCase(Frozen):
    """One test.

    For a script, `input` is its stdin and `output` the expected stdout. For a function, `input` is
    one JSON value per line, one per argument, and `output` one JSON value: the convention of
    LiveCodeBench, to which all other sources are converted. For code execution `input` is the call
    and `output` its value, both in Python syntax. `flags` are arguments of the problem's checker.
    """

    __test__ = False  # not a pytest class

    input: str
    output: str
    public: bool
    flags: tuple[str, ...] = ()


class Codec(StrEnum):
    """Conversion of a JSON value to a function's argument, or of a result to JSON."""

    JSON = "json"
    LINKED_LIST = "linked_list"
    LINKED_LISTS = "linked_lists"
    TREE = "tree"
    TREES = "trees"
    INT_KEYS = "int_keys"  # an object whose keys become integers
    TAGGED = "tagged"  # in the notation of `harness.sandbox.inside.values`
    TAGGED_LISTS = "tagged_lists"  # the same, with lists instead of tuples and other sequences
    FIRST_ARGUMENT = "first_argument"  # results only: an in-place problem's first argument
    EVERYTHING = "everything"  # results only: the result, and the arguments after the call
    SESSION = "session"  # results only: the input is a list of calls, see `inside.calls.session`
    TESTS = "tests"  # results only: the input is test code, see `inside.calls.tests`


class Signature(Frozen):
    """Codecs of a function's arguments, in order, and of its result."""

    arguments: tuple[Codec, ...] = ()
    result: Codec = Codec.JSON


class Reference(Frozen):
    """A known-good solution, or a known-wrong one.

    Attributes:
        language: `python` for solutions that can be run here; some data sets have others too.
        recorded: run time in the data set's own words. It was measured elsewhere, so it is only
            displayed, and never used in calculations.
        name: its name in the data; empty without one.
        verdicts: the verdicts expected of a known-wrong solution; empty for a known-good one.
        points: fewest and most points expected, where the problem gives some; None for any.
        sets_limit: whether a problem's `limit_rule` derives the limit from it, if it is accepted.
        by_grader: whether what is expected is the verdict of the problem's grader, which also
            accepts solutions with a part of the points.
    """

    code: str
    language: str = "python"
    recorded: str = ""
    name: str = ""
    verdicts: tuple[str, ...] = ()
    points: tuple[float, float] | None = None
    sets_limit: bool = True
    by_grader: bool = False


class LimitRule(Frozen):
    """How the CPU limit of a test follows from the accepted solutions.

    Attributes:
        factor: multiple of the slowest one's slowest test.
        step: seconds that the limit is rounded up to a multiple of; at least one.
    """

    factor: float
    step: float

    def limit(self, slowest_s: float) -> float:
        """Return the limit."""
        return max(1, math.ceil(self.factor * slowest_s / self.step)) * self.step


@dataclass(frozen=True, slots=True)
class TestSuite:
    """A problem's tests: public ones, and hidden ones decoded for grading.

    Attributes:
        public: tests that the model may see and use.
        load_hidden: decodes the hidden tests at each call, so that a run holds only those of
            samples being graded. Raises DataError on a malformed row.
        row_bytes: size of the row they are decoded from, compressed or not; None if unknown.
    """

    __test__ = False

    public: tuple[TestCase, ...]
    load_hidden: Callable[[], tuple[TestCase, ...]] = tuple
    row_bytes: int | None = None

    def all(self) -> tuple[TestCase, ...]:
        """Return the public tests, then the hidden ones, in upstream's order.

        A hidden test equal to a public one is marked public, since the model knows it.
        """
        known = {_content(test) for test in self.public}
        return self.public + tuple(
            test.model_copy(update={"public": True}) if _content(test) in known else test
            for test in self.load_hidden()
        )


def _content(test: TestCase) -> tuple[str, str]:
    """Return the content that identifies a test, without surrounding white space."""
    return test.input.strip(), test.output.strip()


class _Facts(Frozen):
    """What a problem and the view of it share."""

    id: str
    source: str
    kind: Kind = Kind.CODE_GENERATION
    title: str
    statement: str
    platform: str
    difficulty: Level | None
    tags: tuple[str, ...] = ()
    release_date: date | None = None
    starter_code: str = ""
    starters: tuple[tuple[str, str], ...] = ()
    entry_point: str | None = None
    signature: Signature = Signature()
    preamble: str = ""
    included: tuple[tuple[str, str], ...] = ()


class ProblemView(_Facts):
    """A problem for strategies, models, tools and plug-ins: nothing hidden.

    It has no hidden tests and no references.

    Attributes:
        judge: what judges an answer: a rule that compares it, a checker, for which others than the
            expected output may be right, or a dialogue, whose other side is given the input.
    """

    public_tests: tuple[TestCase, ...]
    call: str = ""
    code: str = ""
    judge: Judge = "rule"


def shows_output(judge: Judge, test: TestCase) -> bool:
    """Return whether a test's expected output says something of right answers."""
    return judge == "rule" or (judge == "checker" and bool(test.output.strip()))


def _visible(text: str) -> str:
    """Escape the control characters of a line, which a terminal would interpret."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


class Problem(_Facts):
    """A programming problem.

    Attributes:
        id: `<source>/<native id>`, from the data itself, never a position.
        kind: what the problem asks for.
        aliases: other names accepted on the command line (slug, spellings of other data sets).
        difficulty: normalized; `difficulty_word` is the source's own word.
        starters: language and starter code for languages other than Python, where the data have it.
        entry_point: name of the function or `Solution` method that is called; None for a script
            that reads stdin and writes stdout.
        signature: conversion of the entry point's arguments and result.
        public_rule: how public tests were separated from hidden ones.
        preamble: Python source with names that solutions may rely on.
        included: names and texts of the files that are compiled with every solution in C++.
        call: the call whose value is asked for, as a Python expression; empty for code generation.
        code: the called program, for code execution only.
        rule: name of the comparison rule for outputs.
        checker: judges outputs in place of the rule.
        scoring: how tests give points; None where all must pass.
        exit_code_counts: whether a script that ends with an exit code other than 0 has failed, as
            in contests; else its output counts, as in LiveCodeBench and APPS.
        cpu_s, memory_bytes, output_bytes: limits of a test, if in the data.
        languages: languages that solutions may be in; empty for every one that can be judged.
        limit_rule: how the data want `cpu_s` to be derived where they do not have it.
        load_references: decodes the known-good solutions at each call. Raises DataError.
        load_rejected: decodes the known-wrong solutions likewise.
        known_issues: reasons why a correct solution may be judged wrong, or a wrong one correct.
        content_hash: SHA-256 of everything that can change a verdict, including tests.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    difficulty_word: str
    tests: TestSuite
    public_rule: PublicRule = "source"
    call: str = ""
    code: str = ""
    rule: str = "lcb"
    checker: Checker | None = None
    scoring: Scoring | None = None
    exit_code_counts: bool = False
    cpu_s: float | None = None
    memory_bytes: int | None = None
    output_bytes: int | None = None
    languages: tuple[str, ...] = ()
    limit_rule: LimitRule | None = None
    load_references: Callable[[], tuple[Reference, ...]] = tuple
    load_rejected: Callable[[], tuple[Reference, ...]] = tuple
    known_issues: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    content_hash: str

    @property
    def judge(self) -> Judge:
        """What judges an answer; see `ProblemView`."""
        if self.checker is None:
            return "rule"
        program = self.checker.program
        return "dialogue" if program is not None and program.interactive else "checker"

    def programs(self, language: str = "python") -> tuple[str, ...]:
        """Return the references in a language. Raises DataError."""
        return tuple(each.code for each in self.load_references() if each.language == language)

    def known_solutions(self) -> tuple[Reference, ...]:
        """Return known-good and known-wrong solutions, those of `programs()` first.

        Raises:
            DataError: they cannot be decoded.
        """
        known = (*self.load_references(), *self.load_rejected())
        return tuple(
            sorted(known, key=lambda each: (bool(each.verdicts), each.language != "python"))
        )

    @property
    def native_id(self) -> str:
        """The id within its source."""
        return self.id.partition("/")[2]

    def __str__(self) -> str:
        """Return a few lines: name, facts, tests, and the start of the statement."""
        facts = (self.difficulty or self.difficulty_word, self.platform, *self.tags[:MOST_TAGS])
        dated = f", released {self.release_date}" if self.release_date else ""
        lines = [line.strip() for line in self.statement[:LONGEST_LOOK].splitlines()]
        first = next(filter(None, lines), "no statement")
        parts = (
            f"{self.id}  {self.title}".strip(),
            ", ".join(filter(None, facts)) + dated,
            f"{len(self.tests.public):,} public tests; {self.entry_point or 'reads stdin'}",
            first if len(first) <= LONGEST_FIRST else f"{first[:LONGEST_FIRST]}…",
        )
        return "\n".join(map(_visible, filter(None, parts)))

    def __repr__(self) -> str:
        return f"<Problem {_visible(self.id)}>"

    def view(self) -> ProblemView:
        """Return the part of the problem that is not secret."""
        shown = ProblemView.model_fields.keys() - {"public_tests"}
        facts: dict[str, Any] = {name: getattr(self, name) for name in shown}
        return ProblemView(public_tests=self.tests.public, **facts)
