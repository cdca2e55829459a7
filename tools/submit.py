"""`submit`: the model declares that its solution is final."""

from harness.tools.toolbox import NoArguments, ToolError
from harness.tools.workspace import Workspace


class Submit:
    """Ends the attempt; the final solution is chosen as usual."""

    name = "submit"
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Mark the workspace as done."""
        del arguments
        if workspace.latest is None:
            raise ToolError(workspace.say("nothing_to_submit"))
        workspace.submitted = True
        return workspace.say("submitted")
