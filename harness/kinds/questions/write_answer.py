"""`write_answer`: store the answer to a value question."""

from harness.kinds.questions.judge import LONGEST_LITERAL, NoLiteralError, read_answer
from harness.problem import Kind
from harness.tools.toolbox import Arguments, ToolError
from harness.tools.workspace import Workspace


class WriteAnswerArguments(Arguments):
    """The answer and nothing else."""

    answer: str


class WriteAnswer:
    """Stores the model's answer, without saying whether it is correct."""

    name = "write_answer"
    arguments = WriteAnswerArguments

    async def call(self, workspace: Workspace, arguments: WriteAnswerArguments) -> str:
        """Store the answer as the newest revision; ToolError if it is not a literal."""
        answer = arguments.answer.strip()
        if not answer:
            raise ToolError(workspace.say("no_answer"))
        if len(answer) > LONGEST_LITERAL:
            raise ToolError(workspace.say("too_long", longest=f"{LONGEST_LITERAL:,}"))
        kind = workspace.problem.kind
        try:
            read_answer(kind, answer)
        except NoLiteralError as error:
            also = kind is Kind.TEST_OUTPUT_PREDICTION
            message = workspace.say("no_literal", error=str(error), json=also)
            raise ToolError(message) from error
        workspace.write(answer)
        return workspace.say("answer", number=len(workspace.revisions))
