"""Tools for value questions: `read_problem` for a question, and `write_answer`."""

from pydantic import Field

from harness.excerpts import shorten
from harness.grading.answer_judge import LONGEST_LITERAL, NoLiteralError, read_answer
from harness.problem import Kind, ProblemView
from harness.tools.further_tests import LONGEST_STATEMENT
from harness.tools.toolbox import Arguments, NoArguments, ToolError
from harness.tools.workspace import Revision, Workspace


class ReadQuestion:
    """Shows the model the call, and a statement or program that defines the function."""

    name = "read_problem"
    arguments = NoArguments

    def __init__(self, kind: Kind) -> None:
        self.description = (
            "Read the problem: a Python program, and a call of it whose value is asked for."
            if kind is Kind.CODE_EXECUTION
            else "Read the problem: what a function shall do, and a call of it whose value is "
            "asked for."
        )

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Return the question as text."""
        del arguments
        problem = workspace.problem
        return "\n\n".join(part for part in _parts(problem) if part)


def _parts(problem: ProblemView) -> tuple[str, ...]:
    execution = problem.kind is Kind.CODE_EXECUTION
    does = "the program returns" if execution else "a correct solution returns"
    return (
        f"# {problem.title}",
        shorten(problem.statement.strip(), LONGEST_STATEMENT),
        _code("## Function", problem.starter_code),
        _code("## Program", problem.code),
        _code("## Call", problem.call),
        f"Asked is the value that {does} for this call, as a Python literal.",
    )


def _code(title: str, code: str) -> str:
    code = shorten(code.strip("\n").rstrip(), LONGEST_STATEMENT)
    return f"{title}\n\n```python\n{code}\n```" if code else ""


class WriteAnswerArguments(Arguments):
    """The answer and nothing else."""

    answer: str = Field(
        description="The value as a Python literal, such as 3, 'ab', [1, 2] or None; no assertion, "
        "no expression, no explanation."
    )


class WriteAnswer:
    """Stores the model's answer, without saying whether it is correct."""

    name = "write_answer"
    description = (
        "Write the value that the call returns, replacing the answer before. It must be a literal; "
        "you are not told whether it is right."
    )
    arguments = WriteAnswerArguments

    async def call(self, workspace: Workspace, arguments: WriteAnswerArguments) -> str:
        """Store the answer as the newest revision; ToolError if it is not a literal."""
        answer = arguments.answer.strip()
        if not answer:
            raise ToolError("The answer is empty. Call write_answer with the value.")
        if len(answer) > LONGEST_LITERAL:
            raise ToolError(f"The answer is longer than {LONGEST_LITERAL:,} characters.")
        kind = workspace.problem.kind
        try:
            read_answer(kind, answer)
        except NoLiteralError as error:
            also = " or JSON" if kind is Kind.TEST_OUTPUT_PREDICTION else ""
            raise ToolError(
                f"The answer is no literal ({error}). Call write_answer with the value alone, as a "
                f"Python literal{also}: 3, 'ab' in quotes, [1, 2]; no assertion, no expression."
            ) from error
        workspace.revisions.append(Revision(answer))
        return (
            f"Saved answer {len(workspace.revisions)}. Call write_answer again to change it, or "
            "end with a message without a tool call."
        )
