"""What can be run: everything that runs or judges solutions asks here first."""

from collections.abc import Iterable

from harness.errors import UsageError
from harness.problem import Kind, Problem


def require_code_generation(problems: Iterable[Problem]) -> None:
    """Refuse problems that ask for something else than code: nothing here could judge an answer.

    Raises:
        UsageError: names the first of them.
    """
    for problem in problems:
        if problem.kind is not Kind.CODE_GENERATION:
            raise UsageError(
                f"{problem.id} is a {problem.kind.replace('_', ' ')} problem; this release runs "
                "code generation only: leave it out, by naming other files or the other problems"
            )
