"""`run_tests`: runs the newest solution on the public tests and reports failures."""

from harness.tools.empty_function import empty_function
from harness.tools.toolbox import NoArguments, ToolError
from harness.tools.workspace import Workspace

NEXT = (
    "\n\nSay in one or two sentences what your code does wrong here, and in the same message call "
    "write_solution with the corrected code."
)
NO_BODY = (
    "\n\n`{function}` has no body yet: it ends after its docstring. Call write_solution with the "
    "whole code, in which `{function}` returns the result."
)


class RunTests:
    """Runs the public tests in the sandbox. It has no access to hidden tests."""

    name = "run_tests"
    description = (
        "Run your latest solution on the public tests. For a failing test you see its input, the "
        "expected and the actual output, where they first differ, and the error."
    )
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Return the report on the newest revision; failed tests are not a tool error."""
        del arguments
        if workspace.latest is None:
            raise ToolError("There is no solution yet. Call write_solution first.")
        if not workspace.problem.public_tests:
            raise ToolError("This problem has no public tests. Check the solution by reasoning.")
        report = await workspace.test()
        if report.passed == report.total:
            return report.text
        return report.text + _next(workspace, workspace.latest.code)


def report_text(result: str, workspace: Workspace) -> str:
    """Return the report in a result of the tool on the newest revision."""
    latest = workspace.latest
    return result if latest is None else result.removesuffix(_next(workspace, latest.code))


def _next(workspace: Workspace, code: str) -> str:
    """Return what the model is to do after failed tests."""
    function = empty_function(workspace, code)
    return NO_BODY.format(function=function) if function else NEXT
