"""`read_problem` for value questions: the call, and what defines the function."""

from harness.excerpts import shorten
from harness.problem import Kind, ProblemView
from harness.tools.further_tests import LONGEST_STATEMENT
from harness.tools.toolbox import NoArguments
from harness.tools.workspace import Workspace


class ReadQuestion:
    """Shows the model the call, and a statement or program that defines the function."""

    name = "read_problem"
    arguments = NoArguments

    def __init__(self, kind: Kind) -> None:
        self.description = (
            "Read the problem: a Python program, and a call of it whose value is asked for."
            if kind is Kind.CODE_EXECUTION
            else "Read the problem: what a function shall do, and a call of it whose value is "
            "asked for."
        )

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Return the question as text."""
        del arguments
        problem = workspace.problem
        return "\n\n".join(part for part in _parts(problem) if part)


def _parts(problem: ProblemView) -> tuple[str, ...]:
    execution = problem.kind is Kind.CODE_EXECUTION
    does = "the program returns" if execution else "a correct solution returns"
    return (
        f"# {problem.title}",
        shorten(problem.statement.strip(), LONGEST_STATEMENT),
        _code("## Function", problem.starter_code),
        _code("## Program", problem.code),
        _code("## Call", problem.call),
        f"Asked is the value that {does} for this call, as a Python literal.",
    )


def _code(title: str, code: str) -> str:
    code = shorten(code.strip("\n").rstrip(), LONGEST_STATEMENT)
    return f"{title}\n\n```python\n{code}\n```" if code else ""
