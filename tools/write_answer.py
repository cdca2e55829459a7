"""`write_answer`: store the answer to a value question."""

from pydantic import Field

from harness.grading.answer_judge import LONGEST_LITERAL, NoLiteralError, read_answer
from harness.problem import Kind
from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Revision, Workspace


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
                f"The answer is not a literal ({error}). Call write_answer with the value "
                f"alone, as a Python literal{also}: 3, 'ab' in quotes, [1, 2]; no assertion, no "
                "expression."
            ) from error
        workspace.revisions.append(Revision(answer))
        return (
            f"Saved answer {len(workspace.revisions)}. Call write_answer again to change it, or "
            "end with a message without a tool call."
        )
