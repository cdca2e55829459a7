"""Revisions of a solution within one sample, and their reports on the public tests."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, Field

from harness.frozen import Frozen
from harness.grading.verdict import UNKNOWN, Grade, Verdict
from harness.languages.program_key import code_hash
from harness.models.protocol import Usage
from harness.text import writable


@dataclass(frozen=True, slots=True)
class Report:
    """A revision's result on the public tests.

    Attributes:
        verdict: the overall verdict.
        passed, total: number of tests passed, and of all tests.
        text: the report for the model.
    """

    verdict: Verdict
    passed: int
    total: int
    text: str = ""

    @property
    def solved(self) -> bool:
        """Whether all tests passed."""
        return self.verdict is Verdict.ACCEPTED


class Spent(NamedTuple):
    """What a sample has used so far.

    Attributes:
        turn: number of model calls.
        usage: tokens of those calls; None if the model does not report them.
        seconds: working seconds; None if not measured.
    """

    turn: int = 0
    usage: Usage | None = None
    seconds: float | None = None


class Revision(Frozen):
    """One version of the solution within a sample, and how good it is.

    Attributes:
        turn: number of model calls so far.
        tokens, cost, seconds: tokens, US dollars and working seconds so far; None if unknown.
        public_passed: number of public tests it passed, all of the sample's if it passed all that
            were run; None if the sample did not run them.
        passes_public: whether the judge found it to pass all public tests; None if there are none,
            it is unknown, or the run is older than this field.
        solved: whether it passes all tests; None if unknown.
        code_hash: hash of its code; None if the run is older than this field.
        code, usage, report: the solution, its tokens by kind and the report on its public tests,
            while the sample is under way; results hold none of them.
    """

    turn: int
    tokens: int | None
    cost: float | None
    seconds: float | None
    public_passed: int | None
    passes_public: bool | None = None
    solved: bool | None
    code_hash: str | None = None
    code: Annotated[str, AfterValidator(writable)] = Field(default="", exclude=True)
    usage: Usage | None = Field(default=None, exclude=True)
    report: Report | None = Field(default=None, exclude=True)

    @classmethod
    def of(cls, code: str, spent: Spent, **facts: Any) -> Self:
        """Return a solution that was written after so much work, not judged yet."""
        code = writable(code)
        values: dict[str, Any] = {
            **spent._asdict(),
            "tokens": None if spent.usage is None else spent.usage.total_tokens,
            **dict.fromkeys(("cost", "public_passed", "solved")),
            "code_hash": code_hash(code),
            "code": code,
        }
        return cls(**{**values, **facts})

    @property
    def passed(self) -> bool:
        """Whether it was run and passed every public test."""
        return self.report is not None and self.report.solved

    def judged(self, grade: Grade | None, public_passed: int | None) -> Self:
        """Return it as results hold it; unknown without a grade, or where judging failed.

        Args:
            grade: its grade.
            public_passed: number of public tests that it passed in the sample.
        """
        if grade is not None and grade.verdict in UNKNOWN:
            grade = None
        public = 0 if grade is None else grade.public_total
        return self.model_copy(
            update={
                "public_passed": public_passed,
                "passes_public": grade.public_passed == public if grade and public else None,
                "solved": None if grade is None else grade.solved,
                "code": "",
                "usage": None,
                "report": None,
            }
        )
