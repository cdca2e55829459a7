"""`write_solution`: stores a new revision of the complete solution."""

from harness.languages.program_key import program_key
from harness.models.text_tools.arguments import without_fence
from harness.tools.revision import Revision
from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Workspace

LONGEST_CODE = 256_000


class WriteSolutionArguments(Arguments):
    """The whole solution, not a part of it."""

    code: str


class WriteSolution:
    """Stores the model's solution without running it."""

    name = "write_solution"
    arguments = WriteSolutionArguments

    async def call(self, workspace: Workspace, arguments: WriteSolutionArguments) -> str:
        """Store the code as the newest revision."""
        code = without_fence(arguments.code)
        if not code.strip():
            raise ToolError(workspace.say("no_code"))
        if len(code) > LONGEST_CODE:
            raise ToolError(workspace.say("too_long", longest=f"{LONGEST_CODE:,}"))
        number, before = same_program(workspace, code)
        report = before.report if before is not None else None
        workspace.write(code, report)
        if report is not None and not report.solved:
            return workspace.say("same", number=number, passed=report.passed, total=report.total)
        lines = code.count("\n") + 1
        return workspace.say(
            "saved",
            number=len(workspace.revisions),
            lines=lines,
            tests=bool(workspace.problem.public_tests),
            function=workspace.empty_function(code),
        )


def same_program(workspace: Workspace, code: str) -> tuple[int, Revision | None]:
    """Return number, from 1, and revision of the newest equal program; 0 and None without any."""
    if not workspace.revisions:
        return 0, None
    key = program_key(code, workspace.language)
    for number in range(len(workspace.revisions), 0, -1):
        revision = workspace.revisions[number - 1]
        if program_key(revision.code, workspace.language) == key:
            return number, revision
    return 0, None
