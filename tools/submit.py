"""`submit`: the model declares that its solution is final."""

from harness.tools.toolbox import NoArguments, ToolError
from harness.tools.workspace import Workspace


class Submit:
    """Ends the attempt; the final solution is chosen as usual."""

    name = "submit"
    description = (
        "End your work. Your latest solution that passed the public tests is your final answer, or "
        "your latest, if none did. Nothing can be changed afterwards."
    )
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Mark the workspace as done."""
        del arguments
        if workspace.latest is None:
            raise ToolError("There is nothing to submit yet: write a solution first.")
        workspace.submitted = True
        return "Submitted."
