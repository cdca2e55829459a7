"""What a kind of problem decides: tools, extraction, and the judge of answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.agent.extraction.code import EXTRACTORS, HARNESS, Extract
from harness.agent.extraction.fences import extractor_of
from harness.errors import UsageError
from harness.grading.verdict import Grade
from harness.languages import PYTHON
from harness.problem import Kind, Problem
from harness.tools.read_problem import ReadProblem
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Tool
from harness.tools.write_solution import WriteSolution


class AnswerJudge(NamedTuple):
    """What grades answers that are not programs.

    Attributes:
        grade: grades an answer to a problem. Raises DataError.
        check: checks that answers to a problem can be graded. Raises DataError.
    """

    grade: Callable[[Problem, str], Grade]
    check: Callable[[Problem], None]


class ProblemKind(NamedTuple):
    """Rules for presenting and grading problems of a kind (`harness.registry.PROBLEM_KINDS`).

    Attributes:
        kind: the kind of problem.
        tools: tools of every agent loop, in the order shown to the model.
        extractors: extractors by name, as in `extract`, for solutions in Python.
        judge: grades its answers; None where they are programs, graded in the sandbox.
        given_away: why the model may not run code on its problems; empty if it may.
        language: language of solutions.
    """

    kind: Kind
    tools: tuple[Tool[Any], ...]
    extractors: Mapping[str, Extract]
    judge: AnswerJudge | None = None
    given_away: str = ""
    language: str = PYTHON

    @property
    def runs_code(self) -> bool:
        """Whether solutions are programs."""
        return self.judge is None

    @property
    def words(self) -> str:
        """Its name in words."""
        return self.kind.replace("_", " ")

    def extractor(
        self, name: str, setting: str = "--extract", others: Sequence[str] = ()
    ) -> Extract:
        """Return the extractor of a name.

        Args:
            name: the name.
            setting: name of the setting that has it, for messages.
            others: names that the caller knows besides, for messages.

        Raises:
            UsageError: this kind has no extractor of that name.
        """
        if name == HARNESS and self.runs_code:
            return extractor_of(self.language)
        if name in self.extractors:
            return self.extractors[name]
        known = ", ".join([*self.extractors, *others])
        raise UsageError(f"{setting} {name}: known are {known} for {self.words}")


PROGRAMS = ProblemKind(
    Kind.CODE_GENERATION, (ReadProblem(), WriteSolution(), RunTests()), EXTRACTORS
)
