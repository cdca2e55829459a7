"""The vocabulary: a problem, its tests, and the part of it that a model may see."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

Level = Literal["easy", "medium", "hard"]
PublicRule = Literal["source", "statement", "first"]


class Kind(StrEnum):
    """What a model is asked for: code, or what a call that it is shown returns.

    A problem that is no code generation has one test, hidden, whose output is the answer.
    """

    CODE_GENERATION = "code_generation"
    TEST_OUTPUT_PREDICTION = "test_output_prediction"  # of the function that the statement wants
    CODE_EXECUTION = "code_execution"  # of the program that the model is shown


class TestCase(BaseModel):
    """One test.

    For a program, `input` is what it reads on stdin and `output` what it must write. For a
    function, `input` is one JSON value per line, an argument each, and `output` one JSON value: the
    convention of LiveCodeBench, which every other source is translated to. For code execution
    `input` is the call and `output` its value, both as Python writes them.
    """

    __test__ = False  # not a pytest class
    model_config = ConfigDict(frozen=True)

    input: str
    output: str
    public: bool


class Codec(StrEnum):
    """How a JSON value becomes a function's argument, and its result a JSON value."""

    JSON = "json"
    LINKED_LIST = "linked_list"
    LINKED_LISTS = "linked_lists"
    TREE = "tree"
    TREES = "trees"
    INT_KEYS = "int_keys"  # an object whose keys are integers to the function
    TAGGED = "tagged"  # in the notation of `harness.sandbox.inside.values`
    TAGGED_LISTS = "tagged_lists"  # the same, with lists in place of tuples and other sequences
    FIRST_ARGUMENT = "first_argument"  # results only: an in-place problem returns what it mutated
    EVERYTHING = "everything"  # results only: the result and the arguments, as the call left them
    SESSION = "session"  # results only: the input is a list of calls, see `inside.calls.session`
    TESTS = "tests"  # results only: the input is test code, see `inside.calls.tests`


class Signature(BaseModel):
    """The codecs of a function's arguments, in order, and of its result."""

    model_config = ConfigDict(frozen=True)

    arguments: tuple[Codec, ...] = ()
    result: Codec = Codec.JSON


NO_EXCEPTION = "no exception"
"""The expected output of a test that is code and no assertion of two equal values."""


class TestScript(BaseModel):
    """What surrounds tests that are code.

    Attributes:
        source: Python in which each test is a statement `__slot__(number)`, from 0.
        slots: how many there are.
        call: the function of the source that is called with the entry point; empty for none.
    """

    __test__ = False
    model_config = ConfigDict(frozen=True)

    source: str
    slots: int
    call: str = ""


class TestCode(BaseModel):
    """Tests that are code, but for the tests themselves: those are the problem's `TestCase`s.

    Attributes:
        before: Python source that the tests take for granted.
        public: of the first tests of the problem; it holds nothing of a hidden one.
        hidden: of those that follow.
    """

    __test__ = False
    model_config = ConfigDict(frozen=True)

    before: str = ""
    public: TestScript | None = None
    hidden: TestScript | None = None


class Checker(BaseModel):
    """A data set's or a user's own judge of answers: code, run in the sandbox and nowhere else.

    Attributes:
        kind: which functions the code defines and how they are called; `check`: this project's
            `check(input, expected, answer)`, `hooks`: Mercury's `convert_offline` and
            `evaluate_offline` (`harness.grading.checkers`); `tests`: the problem's tests are code,
            and this is what surrounds them (`harness.grading.code_tests`).
        code: Python source.
        preamble: source whose names the code takes for granted.
        beside_rule: whether the source itself judges by the problem's rule, so that the verdict by
            that rule is recorded beside the checker's.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["check", "hooks", "tests"]
    code: str = ""
    preamble: str = ""
    beside_rule: bool = False
    tests: TestCode | None = None

    def of_public_tests(self) -> "Checker":
        """The part that judges public tests alone."""
        if self.tests is None:
            return self
        return self.model_copy(update={"tests": self.tests.model_copy(update={"hidden": None})})


class Reference(BaseModel):
    """A known-good solution.

    Attributes:
        language: `python` for those that can be run here; some data sets have others too.
        recorded: the run time that the data set gives, in its own words. It was measured elsewhere:
            it is shown as foreign, and nothing is ever reckoned from it.
    """

    model_config = ConfigDict(frozen=True)

    code: str
    language: str = "python"
    recorded: str = ""


@dataclass(frozen=True, slots=True)
class TestSuite:
    """A problem's tests: the public ones at hand, the hidden ones decoded when they are graded.

    Attributes:
        public: what the model may see and iterate on.
        load_hidden: decodes the hidden tests, each time anew, so that a run holds those of the
            samples being graded and no others. Raises DataError on a malformed row.
    """

    __test__ = False

    public: tuple[TestCase, ...]
    load_hidden: Callable[[], tuple[TestCase, ...]] = tuple

    def all(self) -> tuple[TestCase, ...]:
        """Public tests first, then the hidden ones, as upstream grades them.

        A test among the hidden ones that equals a public one is marked public: the model knows it.
        """
        known = {_content(test) for test in self.public}
        return self.public + tuple(
            test.model_copy(update={"public": True}) if _content(test) in known else test
            for test in self.load_hidden()
        )


def _content(test: TestCase) -> tuple[str, str]:
    """What makes two tests the same one; white space around it does not."""
    return test.input.strip(), test.output.strip()


class ProblemView(BaseModel):
    """What strategies, models, tools and plug-ins receive: no hidden test, no reference."""

    model_config = ConfigDict(frozen=True)

    id: str
    source: str
    kind: Kind = Kind.CODE_GENERATION
    title: str
    statement: str
    platform: str
    difficulty: Level | None
    tags: tuple[str, ...]
    release_date: date | None
    starter_code: str
    entry_point: str | None
    signature: Signature
    preamble: str
    public_tests: tuple[TestCase, ...]
    call: str = ""
    code: str = ""


def _visible(text: str) -> str:
    """A line with control characters spelled out: a terminal would act on them."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


MOST_TAGS = 5
LONGEST_LOOK, LONGEST_FIRST = 5_000, 200  # characters of a statement that `str` looks at, and tells


class Problem(BaseModel):
    """A programming problem.

    Attributes:
        id: `<source>/<native id>`, from the data itself, never a position.
        kind: what a model is asked for.
        aliases: other names it answers to on the command line (slug, the seeds' spellings).
        difficulty: normalised; `difficulty_word` is the source's own word.
        entry_point: name of the function or `Solution` method that is called; None when the
            program reads stdin and writes stdout.
        signature: how the entry point's arguments and result are converted.
        public_rule: how the public tests were told from the hidden ones.
        unchecked: its tests were read off its statement, and no known-good solution was run on
            them yet.
        preamble: Python source whose names the solution may take for granted.
        call: the call whose value is asked for, as a Python expression; empty for code generation.
        code: the program that defines what is called, for code execution alone.
        rule: the name of the comparison rule that judges its outputs.
        checker: judges them in its place.
        cpu_s, memory_bytes: what a test may use, where the data say.
        load_references: decodes the known-good solutions, each time anew. Raises DataError.
        generator: source text of the data set's own maker of inputs; empty where it has none. Runs
            in the sandbox alone (`harness.features.verify.generated_inputs`).
        known_issues: why a right solution may be judged wrong here, or a wrong one right.
        content_hash: SHA-256 of everything that can change a verdict, tests included.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    id: str
    source: str
    kind: Kind = Kind.CODE_GENERATION
    title: str
    statement: str
    platform: str
    difficulty: Level | None
    difficulty_word: str
    tags: tuple[str, ...] = ()
    release_date: date | None = None
    starter_code: str = ""
    entry_point: str | None = None
    signature: Signature = Signature()
    tests: TestSuite
    public_rule: PublicRule = "source"
    unchecked: bool = False
    preamble: str = ""
    call: str = ""
    code: str = ""
    rule: str = "lcb"
    checker: Checker | None = None
    cpu_s: float | None = None
    memory_bytes: int | None = None
    load_references: Callable[[], tuple[Reference, ...]] = tuple
    generator: str = ""
    known_issues: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    content_hash: str

    def programs(self) -> tuple[str, ...]:
        """The references that can be run: those in Python. Raises DataError."""
        return tuple(each.code for each in self.load_references() if each.language == "python")

    @property
    def native_id(self) -> str:
        """The id within its source."""
        return self.id.partition("/")[2]

    def __str__(self) -> str:
        """Return a few lines: its name, what it is of, its tests, how its statement begins."""
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
        """The part that may leave the judge's side."""
        return ProblemView(
            id=self.id,
            source=self.source,
            kind=self.kind,
            title=self.title,
            statement=self.statement,
            platform=self.platform,
            difficulty=self.difficulty,
            tags=self.tags,
            release_date=self.release_date,
            starter_code=self.starter_code,
            entry_point=self.entry_point,
            signature=self.signature,
            preamble=self.preamble,
            public_tests=self.tests.public,
            call=self.call,
            code=self.code,
        )
