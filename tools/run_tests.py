"""`run_tests`: runs the newest solution on the public tests and reports failures."""

from harness.tools.revision import Report
from harness.tools.toolbox import NoArguments, ToolError
from harness.tools.workspace import Workspace


class RunTests:
    """Runs the public tests in the sandbox. It has no access to hidden tests."""

    name = "run_tests"
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Return the report on the newest revision, once; failed tests are not a tool error."""
        del arguments
        latest = workspace.latest
        if latest is None:
            raise ToolError(workspace.say("no_solution"))
        if not workspace.problem.public_tests:
            raise ToolError(workspace.say("no_tests"))
        if latest.report is not None:
            report = latest.report
            return workspace.say("unchanged", passed=report.passed, total=report.total)
        return result_of(await workspace.test(), workspace, latest.code)


def result_of(report: Report, workspace: Workspace, code: str) -> str:
    """Return what the model is told of a report on some code."""
    if report.solved:
        return report.text
    return workspace.say("failed", report=report.text, function=workspace.empty_function(code))
