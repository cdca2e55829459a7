"""`report_problem`: the model says that a test is wrong, which ends its attempt."""

from pydantic import Field

from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Workspace


class ReportProblemArguments(Arguments):
    """What is wrong, and why."""

    reason: str = Field(description="Which test is wrong, and why no right solution passes it.")


class ReportProblem:
    """Ends the attempt with a report; the final solution is chosen as usual."""

    name = "report_problem"
    description = (
        "Say that a public test contradicts the problem statement or another test. This ends your "
        "work: your latest solution is your final answer."
    )
    arguments = ReportProblemArguments

    async def call(self, workspace: Workspace, arguments: ReportProblemArguments) -> str:
        """Mark the workspace as done; ToolError without a reason."""
        if not arguments.reason.strip():
            raise ToolError("The reason is empty. Say which test is wrong, and why.")
        workspace.submitted = True
        return "Reported."
