"""The tools for each kind of problem."""

from typing import Any

from harness.problem import Kind
from harness.tools.read_problem import ReadProblem
from harness.tools.read_question import ReadQuestion
from harness.tools.run_tests import RunTests
from harness.tools.toolbox import Tool
from harness.tools.write_answer import WriteAnswer
from harness.tools.write_solution import WriteSolution


def tools_for(kind: Kind) -> tuple[Tool[Any], ...]:
    """Return the tools for a kind of problem, in the order shown to the model."""
    if kind is Kind.CODE_GENERATION:
        return ReadProblem(), WriteSolution(), RunTests()
    return ReadQuestion(kind), WriteAnswer()
