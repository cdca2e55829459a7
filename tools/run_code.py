"""`run_code`: any program of the model, with chosen input, in the sandbox."""

from harness.excerpts import GAP, shorten
from harness.models.text_tools.arguments import without_fence
from harness.sandbox.execution import Execution
from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Workspace
from harness.tools.write_solution import LONGEST_CODE

LONGEST_STDIN = 256_000
LONGEST_OUTPUT = 4_000
LONGEST_ERROR = 2_000
MOST_DECODED = 1_000_000  # bytes


class RunCodeArguments(Arguments):
    """A program and its input."""

    code: str
    stdin: str = ""


class RunCode:
    """Runs a program once, without tests; it does not become a revision."""

    name = "run_code"
    arguments = RunCodeArguments

    async def call(self, workspace: Workspace, arguments: RunCodeArguments) -> str:
        """Return the program's output, and how it ended."""
        if workspace.run_code is None:
            raise ToolError(workspace.say("cannot_run"))
        if len(arguments.code) > LONGEST_CODE or len(arguments.stdin) > LONGEST_STDIN:
            raise ToolError(workspace.say("too_long", longest=f"{LONGEST_CODE:,}"))
        code = without_fence(arguments.code)
        return told(await workspace.run_code(code, arguments.stdin), workspace)


def told(execution: Execution, workspace: Workspace) -> str:
    """Describe an execution."""
    return workspace.say(
        "ran",
        ending=execution.ending.value,
        code=execution.code,
        seconds=f"{execution.cpu_s:.2f}",
        stdout=_shown(execution.stdout),
        stderr=shorten(execution.stderr.strip(), LONGEST_ERROR),
        error=shorten(execution.error.strip(), LONGEST_ERROR),
    )


def _shown(data: bytes) -> str:
    """Return output as text; of long output, only the shown part is decoded."""
    if len(data) <= MOST_DECODED:
        return shorten(data.decode("utf-8", "replace"), LONGEST_OUTPUT)
    half = LONGEST_OUTPUT // 2
    head, tail = (part.decode("utf-8", "replace") for part in (data[: 4 * half], data[-4 * half :]))
    return f"{head[:half]}{GAP}the middle of {len(data)} bytes left out{GAP}{tail[-half:]}"
