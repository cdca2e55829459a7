"""An attempt at a sample: its limits, its session, its result, its stop reasons."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from harness.agent.events import PublicTests
from harness.agent.extraction.code import Extract, extract
from harness.agent.journal import Journal
from harness.agent.request_gate import OPEN, Gate
from harness.agent.strategies.external_names import REPAIR_ROUNDS, SHOTS
from harness.models.protocol import (
    ContextOverflowError,
    Frozen,
    Model,
    ModelError,
    ModelSettings,
    RecordingEndedError,
    Usage,
)
from harness.problem import ProblemView
from harness.tools.workspace import Workspace

if TYPE_CHECKING:
    from harness.agent.templates.prompt_set import PromptSet
    from harness.tools.toolbox import Toolbox


class StopReason(StrEnum):
    """Why a strategy stopped."""

    PUBLIC_TESTS_PASSED = "public_tests_passed"
    SUBMITTED = "submitted"
    MODEL_STOPPED = "model_stopped"
    TURN_LIMIT = "turn_limit"
    TOOL_CALL_LIMIT = "tool_call_limit"
    TIME_LIMIT = "time_limit"  # of working seconds
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"  # of an external agent and all that it started
    COST_LIMIT = "cost_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a word, no secret
    CONTEXT_LIMIT = "context_limit"
    REPEATED_SOLUTION = "repeated_solution"
    MODEL_ERROR = "model_error"


class BudgetSpentError(Exception):
    """The sample's own budget may not hold one more request; `reason` says which budget."""

    def __init__(self, reason: StopReason) -> None:
        self.reason = reason
        super().__init__(reason.value)


class RunStop(StrEnum):
    """Why a run sends no further request before it is done."""

    BUDGET = "budget"
    OUTAGE = "outage"  # the provider does not answer
    REFUSED = "refused"  # the provider will refuse every request: a wrong key or model name
    INTERRUPT = "interrupt"


class RunStoppedError(Exception):
    """A limit of the run was reached: the sample stays pending and goes on another time.

    Args:
        reason: which limit.
        cause: what is known of it, in one line.
    """

    def __init__(self, reason: RunStop = RunStop.INTERRUPT, cause: str = "") -> None:
        self.reason = reason
        self.cause = cause
        super().__init__(cause or reason.value)


NUDGE = (
    "No tool was called. Hand your solution in with write_solution, then call run_tests; code in "
    "a message is not run."
)


class ChosenBy(StrEnum):
    """The rule that chose the final solution."""

    PASSED_PUBLIC_TESTS = "passed_public_tests"
    NEWEST = "newest"
    MOST_PUBLIC_TESTS = "most_public_tests"  # of several that failed one
    PROSE = "prose"  # found in a message of a model that would not use the tools
    EARLIER = "earlier"  # of the run whose solutions were to be repaired
    ANSWER = "answer"  # single shot's only place
    NONE = "none"


ToolProtocolUsed = Literal["native", "text", "none"]
"""How tools are called: as the provider has it, in text, or not at all."""


class Limits(Frozen):
    """What one sample may use; None is no limit.

    Attributes:
        turns: model calls.
        tool_calls: those carried out.
        tokens: input and output of all calls; a model that does not tell its tokens is stopped
            after its first.
        seconds: working seconds: waiting for a provider's rate limit, for the end of an outage or
            for a sandbox worker does not count.
        wall_seconds: of everything, waiting included, since the sample was begun or taken up again.
    """

    turns: int = 10
    tool_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    wall_seconds: float | None = None


class StrategyOptions(Frozen):
    """How a strategy is to work, beyond its limits.

    Attributes:
        stop_on_pass: the agent loop ends once the public tests have passed.
        repair_rounds: of `self_repair`.
        best_of: how many single shots `best_of_k_public` takes.
        show_budget: the last tool result of each message says what the sample may still use.
    """

    stop_on_pass: bool = True
    repair_rounds: int = REPAIR_ROUNDS
    best_of: int = SHOTS
    show_budget: bool = False


class Written(Frozen):
    """A revision: when it was written, and how it did on the public tests.

    Attributes:
        turn: model calls until then.
        usage: of these calls; None where the model does not tell.
        seconds: working seconds until then; None where nobody looked.
        tests: None where they were not run.
    """

    code: str
    turn: int
    usage: Usage | None
    seconds: float | None
    tests: PublicTests | None = None


class Attempt(Frozen):
    """A solution and how it came about.

    Attributes:
        code: the final solution; empty when there is none.
        extraction: by which rule of `harness.agent.extraction.code` code was found in a message;
            empty when it was handed in through a tool.
        revisions: all that were written, the oldest first.
        tool_protocol: how the model called its tools, or was to call them; None where no answer
            came.
        fallback: the model would not call tools, so that the code is what it wrote without them.
        refused: the model, or its provider's filter, refused to go on.
        error: the provider's words after `model_error`, the model's after a refusal.
        confined: whether an agent of the user's own was kept from the data; None where there was
            none.
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
    revisions: tuple[Written, ...] = ()
    tool_protocol: ToolProtocolUsed | None = None
    fallback: bool = False
    refused: bool = False
    error: str = ""
    confined: bool | None = None

    @property
    def written(self) -> int:
        """How many revisions were written."""
        return len(self.revisions)


def no_warning(kind: str, line: str) -> None:
    """Drop a warning."""


@dataclass(frozen=True, slots=True)
class Session:
    """Everything one sample's strategy may touch.

    Attributes:
        journal: what is recorded, and what was recorded before.
        fallback_prompt: for a single shot where the model cannot call tools; None for the bundled
            one.
        nudge: what a model is told that called no tool.
        earlier: the solution of an earlier run, where there is one to repair.
        warn: prints a line of a kind, once in a run.
    """

    problem: ProblemView
    model: Model
    settings: ModelSettings
    prompt: "PromptSet"
    toolbox: "Toolbox"
    workspace: Workspace
    limits: Limits
    journal: Journal
    extract: Extract = extract
    fallback_prompt: "PromptSet | None" = None
    gate: Gate = OPEN
    ways: StrategyOptions = field(default_factory=StrategyOptions)
    nudge: str = NUDGE
    earlier: str | None = None
    warn: Callable[[str, str], None] = no_warning


class Strategy(Protocol):
    """A way of seeking a solution."""

    async def __call__(self, session: Session) -> Attempt:
        """Seek one.

        A provider that does not answer ends the attempt with `model_error`, not with an exception.

        Raises:
            SandboxError: the tests could not be run.
        """
        ...


async def run_until_stopped(work: Awaitable[StopReason], limits: Limits) -> tuple[StopReason, str]:
    """Await a strategy's work; why it stopped, and the provider's words where it was the provider.

    Every limit has a reason of its own. That the run was stopped passes through: it is no end.
    """
    wall = asyncio.timeout(limits.wall_seconds)
    try:
        async with wall:
            return await work, ""
    except TimeoutError:
        return StopReason.WALL_LIMIT if wall.expired() else StopReason.TIME_LIMIT, ""
    except BudgetSpentError as spent:
        return spent.reason, ""
    except RecordingEndedError as ended:
        return StopReason(ended.stop_reason), str(ended)
    except ContextOverflowError as overflow:
        return StopReason.CONTEXT_LIMIT, str(overflow)
    except ModelError as failure:
        return StopReason.MODEL_ERROR, str(failure)
