"""`run_code`: any program of the model, with chosen input, in the sandbox."""

from pydantic import Field

from harness.excerpts import GAP, shorten
from harness.languages import PYTHON
from harness.languages.known import language
from harness.models.text_tools.arguments import without_fence
from harness.sandbox.execution import Ending, Execution
from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Workspace
from harness.tools.write_solution import LONGEST_CODE

LONGEST_STDIN = 256_000
LONGEST_OUTPUT = 4_000
LONGEST_ERROR = 2_000
MOST_DECODED = 1_000_000  # bytes
ENDINGS = {
    Ending.FINISHED: "The program finished",
    Ending.ERROR: "The program raised an exception",
    Ending.MEMORY_LIMIT: "The program used too much memory",
    Ending.CPU_LIMIT: "The program used too much CPU time",
    Ending.WALL_LIMIT: "The program slept for too long",
    Ending.OUTPUT_LIMIT: "The program printed too much",
    Ending.CANNOT_COMPILE: "The program does not compile",
    Ending.SANDBOX_LOST: "The program was stopped",
}


class RunCodeArguments(Arguments):
    """A program and its input."""

    code: str = Field(description="A complete Python program; what it prints is shown to you.")
    stdin: str = Field(default="", description="What the program reads on stdin.")


def arguments_in(name: str) -> type[RunCodeArguments]:
    """Return the arguments for programs in a language."""
    if name == PYTHON:
        return RunCodeArguments
    words = f"A complete {language(name).title} program; what it prints is shown to you."

    class InLanguage(RunCodeArguments):
        code: str = Field(description=words)

    return InLanguage


class RunCode:
    """Runs a program once, without tests; it does not become a revision.

    Args:
        programs: the language of programs.
    """

    name = "run_code"

    def __init__(self, programs: str = PYTHON) -> None:
        self.description = (
            f"Run any {language(programs).title} program, to try something out. It does not change "
            "your solution: call write_solution for that."
        )
        self.arguments = arguments_in(programs)

    async def call(self, workspace: Workspace, arguments: RunCodeArguments) -> str:
        """Return the program's output, and how it ended."""
        if workspace.run_code is None:
            raise ToolError("Programs cannot be run here.")
        if len(arguments.code) > LONGEST_CODE or len(arguments.stdin) > LONGEST_STDIN:
            raise ToolError(f"Code or stdin is longer than {LONGEST_CODE:,} characters.")
        code = without_fence(arguments.code)
        return told(await workspace.run_code(code, arguments.stdin))


def told(execution: Execution) -> str:
    """Describe an execution."""
    ending = ENDINGS.get(execution.ending)
    if ending is None:
        kind = "exit code" if execution.ending is Ending.EXIT else "signal"
        ending = f"The program ended with {kind} {execution.code}"
    parts = [f"{ending} after {execution.cpu_s:.2f} s of CPU time."]
    stdout = _shown(execution.stdout)
    parts.append(f"Printed to stdout:\n{stdout}" if stdout else "")
    for name, text in (("Printed to stderr", execution.stderr), ("Error", execution.error)):
        parts.append(f"{name}:\n{shorten(text.strip(), LONGEST_ERROR)}" if text.strip() else "")
    if not stdout:
        parts.append("Nothing was printed to stdout.")
    return "\n\n".join(part for part in parts if part)


def _shown(data: bytes) -> str:
    """Return output as text; of long output, only the shown part is decoded."""
    if len(data) <= MOST_DECODED:
        return shorten(data.decode("utf-8", "replace"), LONGEST_OUTPUT)
    half = LONGEST_OUTPUT // 2
    head, tail = (part.decode("utf-8", "replace") for part in (data[: 4 * half], data[-4 * half :]))
    return f"{head[:half]}{GAP}the middle of {len(data)} bytes left out{GAP}{tail[-half:]}"
