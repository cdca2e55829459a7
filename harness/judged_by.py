"""What judges a solution where no rule compares: a checker, a program, or tests that are code."""

from typing import Literal

from harness.frozen import Frozen

JudgedBy = Literal["check", "hooks", "tests", "program", "passes"]
NO_EXCEPTION = "no exception"
"""Expected output of a code test that is not an assertion of two equal values."""


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
