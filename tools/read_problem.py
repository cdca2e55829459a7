"""`read_problem`: the statement, how the solution is run, and the public tests."""

from harness.grading.excerpts import shorten
from harness.problem import Codec, ProblemView, TestCase
from harness.tools.toolbox import NoArguments
from harness.tools.workspace import Workspace

LONGEST_TEST = 2_000
LONGEST_STATEMENT = 50_000
MOST_TESTS = 10


class ReadProblem:
    """Shows the model what there is to know of the problem."""

    name = "read_problem"
    description = (
        "Read the problem: its statement, how your solution will be run, its starter code if it "
        "has any, and the public tests."
    )
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """The problem as text."""
        del arguments
        problem = workspace.problem
        shown = problem.public_tests[:MOST_TESTS]
        left = len(problem.public_tests) - len(shown)
        return "\n\n".join(
            part
            for part in (
                f"# {problem.title}",
                shorten(problem.statement.strip(), LONGEST_STATEMENT),
                f"## How it is run\n\n{_how(problem, workspace.cpu_limit_s)}",
                _starter(problem),
                *(_test(test, number) for number, test in enumerate(shown, 1)),
                f"({left} more public tests are run but not shown.)" if left else "",
            )
            if part
        )


def _how(problem: ProblemView, cpu_limit_s: float) -> str:
    limit = (
        f"Each test may take {cpu_limit_s:g} seconds of CPU time. "
        "Python's standard library is at hand."
    )
    if problem.entry_point is None:
        return f"A complete Python program that reads stdin and writes stdout. {limit}"
    in_place = problem.signature.result is Codec.FIRST_ARGUMENT
    task = "it must change its first argument in place" if in_place else "it must return its result"
    return f"Your code is imported and `{problem.entry_point}` is called; {task}. {limit}"


def _starter(problem: ProblemView) -> str:
    if not problem.starter_code.strip():
        return ""
    code = problem.starter_code.rstrip()
    return f"## Starter code (keep its names and parameters)\n\n```python\n{code}\n```"


def _test(test: TestCase, number: int) -> str:
    given, wanted = (shorten(text.strip("\n"), LONGEST_TEST) for text in (test.input, test.output))
    return (
        f"## Public test {number}\n\nInput:\n```\n{given}\n```\n"
        f"Expected output:\n```\n{wanted}\n```"
    )
