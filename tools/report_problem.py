"""`report_problem`: the model says that a test is wrong, which ends its attempt."""

from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Workspace


class ReportProblemArguments(Arguments):
    """What is wrong, and why."""

    reason: str


class ReportProblem:
    """Ends the attempt with a report; the final solution is chosen as usual."""

    name = "report_problem"
    arguments = ReportProblemArguments

    async def call(self, workspace: Workspace, arguments: ReportProblemArguments) -> str:
        """Mark the workspace as done; ToolError without a reason."""
        if not arguments.reason.strip():
            raise ToolError(workspace.say("no_reason"))
        workspace.submitted = True
        return workspace.say("reported")
