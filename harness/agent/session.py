"""What a strategy gets for one sample, and what ends its work."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from harness.agent.attempt import Attempt, Limits, RunStop, StopReason
from harness.agent.extraction.code import Extract, extract
from harness.agent.journal import Journal
from harness.agent.strategies.options import StrategyOptions
from harness.agent.tool_use import ToolUse
from harness.models.protocol import (
    ContextOverflowError,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RecordingEndedError,
    Retry,
    Usage,
)
from harness.problem import ProblemView
from harness.tools.workspace import Workspace

if TYPE_CHECKING:
    from harness.agent.templates.prompt_set import PromptSet
    from harness.tools.toolbox import Toolbox


class BudgetSpentError(Exception):
    """One more request may exceed the sample's own budget; `reason` names the budget."""

    def __init__(self, reason: StopReason) -> None:
        self.reason = reason
        super().__init__(reason.value)


class RunStoppedError(Exception):
    """A limit of the run was reached; the sample stays pending and can be resumed.

    Args:
        reason: the limit.
        cause: details, in one line.
    """

    def __init__(self, reason: RunStop = RunStop.INTERRUPT, cause: str = "") -> None:
        self.reason = reason
        self.cause = cause
        super().__init__(cause or reason.value)


def no_warning(kind: str, line: str) -> None:
    """Ignore a warning."""


class Gate(Protocol):
    """Admits the requests of one sample, one after another."""

    @property
    def dollars_left(self) -> float | None:
        """US dollars the sample may still spend; None without a limit."""
        ...

    async def enter(self) -> None:
        """Wait until the next request may be sent.

        Raises:
            BudgetSpentError: the sample's own budget does not cover another request.
            RunStoppedError: the run sends no further requests.
        """
        ...

    def step_aside(self, retry: Retry, estimate: Usage | None = None) -> None:
        """Free the request's place while it waits for its retry.

        Args:
            retry: the failure.
            estimate: estimated tokens, if the harness's timeout cut the request off.
        """
        ...

    async def enter_again(self) -> None:
        """Queue again after the wait of `step_aside`."""
        ...

    def may_be_dropped(self) -> None:
        """Allow cancelling the task if the user stops the run before the next request."""
        ...

    def recall(self, usage: Usage | None) -> None:
        """Charge a reused answer of an earlier attempt to the sample, but not to the run."""
        ...

    def leave(
        self,
        turn: ModelTurn | None,
        *,
        billed: bool,
        usage: Usage | None = None,
        estimate: Usage | None = None,
    ) -> None:
        """Finish the request.

        Args:
            turn: the answer, if there is one.
            billed: whether it is billed, which also holds for an abandoned answer.
            usage: tokens of an unusable answer, which are billed all the same.
            estimate: estimated tokens of an answer that was lost or did not report them.
        """
        ...

    def comes_back(self, error: ModelError) -> bool:
        """Whether a failed request is to be sent again, once `enter` admits it."""
        ...

    def refuse(self, error: ModelError) -> None:
        """Stop the run, since the provider will refuse all its requests.

        Raises:
            RunStoppedError: the run stops.
        """
        ...


@dataclass(frozen=True, slots=True)
class Session:
    """Everything a strategy may use for one sample.

    Attributes:
        journal: records events, and holds those recorded before.
        tool_use: whether tools are native; the samples of a run share it.
        warn: prints a warning of a given kind, once per run.
    """

    problem: ProblemView
    model: Model
    settings: ModelSettings
    prompt: "PromptSet"
    toolbox: "Toolbox"
    workspace: Workspace
    limits: Limits
    journal: Journal
    gate: Gate
    extract: Extract = extract
    options: StrategyOptions = field(default_factory=StrategyOptions)
    tool_use: ToolUse = field(default_factory=ToolUse)
    warn: Callable[[str, str], None] = no_warning


Strategy = Callable[[Session], Awaitable[Attempt]]
"""A procedure for finding a solution: a coroutine function.

If the provider does not answer, the attempt ends with `model_error`, not with an exception. It
raises SandboxError where the tests could not be run.
"""


async def run_until_stopped(work: Awaitable[StopReason], limits: Limits) -> tuple[StopReason, str]:
    """Await a strategy's work; return its stop reason and the provider's error.

    Each limit has its own stop reason; the error is empty unless the provider failed. A stop of
    the whole run is not caught: it does not end the attempt.
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
