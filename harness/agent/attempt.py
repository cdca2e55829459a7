"""What a strategy is given and what it comes back with."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from harness.agent.events import Event
from harness.agent.extraction import Extract, extract
from harness.agent.gate import OPEN, Gate
from harness.agent.prompts import PromptSet
from harness.models.protocol import Frozen, Model, ModelSettings, Usage
from harness.problem import ProblemView
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace


class StopReason(StrEnum):
    """Why a strategy stopped."""

    PUBLIC_TESTS_PASSED = "public_tests_passed"
    MODEL_STOPPED = "model_stopped"
    TURN_LIMIT = "turn_limit"
    TIME_LIMIT = "time_limit"
    COST_LIMIT = "cost_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a word, no secret
    CONTEXT_LIMIT = "context_limit"
    REPEATED_SOLUTION = "repeated_solution"
    MODEL_ERROR = "model_error"


class BudgetSpentError(Exception):
    """There may be too little left for one more request; `reason` says of what."""

    def __init__(self, reason: StopReason) -> None:
        self.reason = reason
        super().__init__(reason.value)


class ChosenBy(StrEnum):
    """The rule that chose the final solution."""

    PASSED_PUBLIC_TESTS = "passed_public_tests"
    NEWEST = "newest"
    PROSE = "prose"  # found in a message of a model that would not use the tools
    ANSWER = "answer"  # single shot's only place
    NONE = "none"


ToolProtocolUsed = Literal["native", "text", "none"]
"""How tools are called: as the provider has it, in text, or not at all."""


class Limits(Frozen):
    """What one sample may use; None is no limit.

    Attributes:
        turns: model calls.
        seconds: working seconds: waiting for a provider's rate limit does not count.
    """

    turns: int = 10
    seconds: float | None = None


class Attempt(Frozen):
    """A solution and how it came about.

    Attributes:
        code: the final solution; empty when there is none.
        extraction: by which rule of `harness.agent.extraction` code was found in a message; empty
            when it was handed in through a tool.
        written: how many revisions were written.
        tool_protocol: how the model called its tools, or was to call them; None where no answer
            came.
        fallback: the model would not call tools, so that the code is what it wrote without them.
        refused: the model, or its provider's filter, refused to go on.
        error: the provider's words after `model_error`, the model's after a refusal.
    """

    code: str
    chosen_by: ChosenBy
    extraction: str = ""
    stop_reason: StopReason
    usage: Usage = Usage()
    usage_known: bool = True
    model_calls: int = 0
    tool_calls: int = 0
    malformed_tool_calls: int = 0
    nudges: int = 0
    written: int = 0
    tool_protocol: ToolProtocolUsed | None = None
    fallback: bool = False
    refused: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """Everything one sample's strategy may touch.

    Attributes:
        fallback_prompt: for a single shot where the model cannot call tools; None for the bundled
            one.
    """

    problem: ProblemView
    model: Model
    settings: ModelSettings
    prompt: PromptSet
    toolbox: Toolbox
    workspace: Workspace
    limits: Limits
    record: Callable[[Event], None]
    extract: Extract = extract
    fallback_prompt: PromptSet | None = None
    gate: Gate = OPEN


class Strategy(Protocol):
    """A way of seeking a solution."""

    async def __call__(self, session: Session) -> Attempt:
        """Seek one.

        A provider that does not answer ends the attempt with `model_error`, not with an exception.

        Raises:
            SandboxError: the tests could not be run.
        """
        ...
