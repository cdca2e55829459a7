"""`write_solution`: stores a new revision of the complete solution."""

from collections.abc import Sequence

from pydantic import Field

from harness.languages import PYTHON
from harness.languages.known import language
from harness.models.text_tools.arguments import without_fence
from harness.tools.empty_function import empty_function
from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Report, Revision, Workspace

LONGEST_CODE = 256_000
SAME_CODE = (
    "Nothing has changed: this is the code of revision {number} again, which passes {passed} of "
    "{total} public tests. Do not send it once more. Say what it does wrong in a failing test, "
    "then call write_solution with code that does something else."
)
NO_BODY = "`{function}` has no body yet: complete it."
TEST_IT = "Call run_tests to run the public tests."
NO_TESTS = "This problem has no public tests. Check the solution by reasoning; then you are done."


class WriteSolutionArguments(Arguments):
    """The whole solution, not a part of it."""

    code: str = Field(description="The complete Python source of the solution.")


def arguments_in(name: str) -> type[WriteSolutionArguments]:
    """Return the arguments for solutions in a language."""
    if name == PYTHON:
        return WriteSolutionArguments
    words = f"The complete {language(name).title} source of the solution."

    class InLanguage(WriteSolutionArguments):
        code: str = Field(description=words)

    return InLanguage


class WriteSolution:
    """Stores the model's solution without running it.

    Args:
        language: the language of solutions.
    """

    name = "write_solution"
    description = (
        "Write your complete solution, replacing the one before. Call run_tests afterwards to see "
        "how it does."
    )

    def __init__(self, language: str = PYTHON) -> None:
        self.arguments = arguments_in(language)

    async def call(self, workspace: Workspace, arguments: WriteSolutionArguments) -> str:
        """Store the code as the newest revision."""
        code = without_fence(arguments.code)
        if not code.strip():
            raise ToolError("The code is empty. Call write_solution with the complete source.")
        if len(code) > LONGEST_CODE:
            raise ToolError(f"The code is longer than {LONGEST_CODE:,} characters. Write less.")
        if (tested := _tested(code, workspace.revisions)) is not None:
            number, report = tested
            workspace.revisions.append(Revision(code, report))
            return SAME_CODE.format(number=number, passed=report.passed, total=report.total)
        workspace.revisions.append(Revision(code))
        lines = code.count("\n") + 1
        function = empty_function(workspace, code)
        saved = f"Saved revision {len(workspace.revisions)} ({lines} line{'s' * (lines != 1)})."
        if workspace.problem.public_tests:
            return f"{saved} {TEST_IT}"
        return f"{saved} {NO_BODY.format(function=function) if function else NO_TESTS}"


def _tested(code: str, revisions: Sequence[Revision]) -> tuple[int, Report] | None:
    """Return number and result of the newest revision with that code that failed its tests."""
    for number in range(len(revisions), 0, -1):
        revision = revisions[number - 1]
        if revision.code == code and revision.report is not None and not revision.passed:
            return number, revision.report
    return None
