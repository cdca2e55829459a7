"""Problems, their tests, and the part of a problem that a model may see."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Level = Literal["easy", "medium", "hard"]
PublicRule = Literal["source", "statement", "first"]
Judge = Literal["rule", "checker", "dialogue"]
JudgedBy = Literal["check", "hooks", "tests", "program", "passes"]
NO_EXCEPTION = "no exception"
"""Expected output of a code test that is not an assertion of two equal values."""

MOST_TAGS = 5
LONGEST_LOOK, LONGEST_FIRST = 5_000, 200  # characters of a statement that `str` searches, and shows
PARTIAL = "partially_accepted"
"""Expected of a known solution that its problem's grader accepts with a part of the points."""


class Frozen(BaseModel):
    """Base class of values that do not change."""

    model_config = ConfigDict(frozen=True)


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


class TestScript(Frozen):
    """Code around tests that are themselves code.

    Attributes:
        source: Python in which each test is a statement `__slot__(number)`, from 0.
        slots: number of tests.
        call: function of the source that is called with the entry point; empty for none.
    """

    __test__ = False

    source: str
    slots: int
    call: str = ""


class TestCode(Frozen):
    """Code around tests that are code; the tests are the problem's `TestCase`s.

    Attributes:
        before: Python source that the tests rely on.
        classes: names of the solution's classes; only of these do tests make objects.
        shared: names of classes that `before` and the solution's preamble define; their objects
            are exchanged as data.
        asked: names that the tests use and the problem asks the solution to define, apart from
            the entry point.
        public: script of the first tests of the problem; contains nothing of hidden ones.
        hidden: script of the other tests.
    """

    __test__ = False

    before: str = ""
    classes: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    public: TestScript | None = None
    hidden: TestScript | None = None


class CheckerProgram(Frozen):
    """A checker that is a program of its own.

    Attributes:
        protocol: how it is called and says its verdict. `kattis`: input, expected output and a
            folder for its messages as arguments, the answer on stdin, exit code 42 or 43;
            `testlib`: input, answer and expected output as arguments, testlib's exit codes;
            `grader`: see `harness.kinds.packages.graders`.
        source: its source.
        files: names and texts of the files beside it.
        language: language of its source.
        cpu_s, memory_bytes: limits of its process.
        interactive: whether it talks with the solution, which then gets no input.
        passes: most runs of the solution on a test, where the checker may write the input of the
            next one; 0 where it may not.
        partial: how an answer that is right in part counts: by its points, as right, or as wrong.
        most: points of a whole answer, where they are known.
        others: further checkers; an answer is right if all say so.
    """

    protocol: Literal["kattis", "testlib", "grader"]
    source: str
    files: tuple[tuple[str, str], ...] = ()
    language: str = "cpp"
    cpu_s: float = 60.0
    memory_bytes: int = 2 << 30
    interactive: bool = False
    passes: int = 0
    partial: Literal["counts", "right", "wrong"] = "wrong"
    most: float | None = None
    others: tuple["CheckerProgram", ...] = ()

    @property
    def has_passes(self) -> bool:
        """Whether it does more than judge what a solution printed."""
        return self.interactive or self.passes > 0


class Checker(Frozen):
    """A data set's or user's own code that judges answers, run only in the sandbox.

    Attributes:
        kind: the functions that the code defines, and how they are called. `check`: this project's
            `check(input, expected, answer)`; `hooks`: Mercury's `convert_offline` and
            `evaluate_offline` (`harness.kinds.checkers.check`); `tests`: the problem's tests are
            code, and `tests` surrounds them (`harness.kinds.code_tests`); `program`: a program
            (`harness.kinds.checkers.checker_program`).
        code: Python source.
        preamble: source with names that the code relies on.
        takes_flags: whether the first argument of a `check` is the pair of the input and the test's
            flags.
        beside_rule: whether the source itself judges by the problem's rule, so that the verdict by
            that rule is recorded beside the checker's.
    """

    kind: Literal["check", "hooks", "tests", "program"]
    code: str = ""
    preamble: str = ""
    takes_flags: bool = False
    beside_rule: bool = False
    tests: TestCode | None = None
    program: CheckerProgram | None = None

    @property
    def judged_by(self) -> JudgedBy:
        """What judges a solution: its kind, or `passes` for a program that also runs it."""
        passes = self.program is not None and self.program.has_passes
        return "passes" if passes else self.kind

    def without_points(self) -> "Checker":
        """Return the checker where it gives no points, and only whole answers are right.

        Where the points of a whole answer are not known, it says itself what is right.
        """
        if self.program is None or self.program.partial != "counts":
            return self
        partial = "right" if self.program.most is None else "wrong"
        return self.model_copy(
            update={"program": self.program.model_copy(update={"partial": partial})}
        )

    def of_public_tests(self) -> "Checker":
        """Return the part that judges only public tests."""
        if self.tests is None:
            return self
        return self.model_copy(update={"tests": self.tests.model_copy(update={"hidden": None})})


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


class TestGroup(Frozen):
    """Tests that give points together, and how: `harness.kinds.packages.scores` has the rules.

    Attributes:
        name: path of its folder; the whole problem's is empty.
        parts: its tests, by their position among the problem's, and its inner groups.
        points_of: how its points follow from those of its parts; `pass`: `accept_score` if all
            parts are accepted, else 0.
        verdict_of: when it is accepted: if no part is rejected, if any is accepted, or always.
        breaks: whether the parts after a rejected one are not run.
        last_only: whether only its last part counts.
        needs: names of groups that must be accepted for this one to be run.
        accept_score, reject_score: points of an accepted and of a rejected test.
        most: most points of the group.
        own_scores: whether the checker's points of an accepted test are never allowed, ignored,
            allowed up to `accept_score`, or always there.
        grader_flags: arguments of the problem's own grader, which then decides on verdict and
            points; None where the rules above do.
    """

    __test__ = False

    name: str = ""
    parts: tuple["TestGroup | int", ...]
    points_of: Literal["sum", "avg", "min", "max", "pass"] = "sum"
    verdict_of: Literal["all", "any", "always"] = "all"
    breaks: bool = False
    last_only: bool = False
    needs: tuple[str, ...] = ()
    accept_score: float = 1.0
    reject_score: float = 0.0
    most: float = math.inf
    own_scores: Literal["never", "ignored", "optional", "required"] = "never"
    grader_flags: tuple[str, ...] | None = None


class Scoring(Frozen):
    """How a problem gives points.

    Attributes:
        root: group of all tests.
        maximum: points of a full score.
        tests: number of the problem's tests; fewer are judged without points.
        grader: the problem's own grader; None where no group needs one.
    """

    root: TestGroup
    maximum: float
    tests: int
    grader: CheckerProgram | None = None


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
