"""Attempts at samples: their limits, session, result and stop reasons."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from harness.agent.extraction.code import Extract, extract
from harness.agent.journal import Journal
from harness.agent.strategies.options import StrategyOptions
from harness.agent.tool_use import ToolUse
from harness.frozen import Frozen
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
from harness.problem import ProblemView, TestCase
from harness.tools.workspace import Revision, Workspace

if TYPE_CHECKING:
    from harness.agent.templates.prompt_set import PromptSet
    from harness.tools.toolbox import Toolbox

Reported = Literal["tool", "words", "both"]
"""How a model said that a test is wrong: by the tool, in words, or both."""
IN_WORDS = frozenset({"words", "both"})
BY_TOOL = frozenset({"tool", "both"})


class StopReason(StrEnum):
    """Why a strategy stopped."""

    PUBLIC_TESTS_PASSED = "public_tests_passed"
    SUBMITTED = "submitted"
    MODEL_STOPPED = "model_stopped"
    TURN_LIMIT = "turn_limit"
    TOOL_CALL_LIMIT = "tool_call_limit"
    TIME_LIMIT = "time_limit"  # on working seconds
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"  # of an external agent and its child processes
    COST_LIMIT = "cost_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a word, no secret
    CONTEXT_LIMIT = "context_limit"
    REPEATED_SOLUTION = "repeated_solution"
    MODEL_ERROR = "model_error"


class BudgetSpentError(Exception):
    """One more request may exceed the sample's own budget; `reason` names the budget."""

    def __init__(self, reason: StopReason) -> None:
        self.reason = reason
        super().__init__(reason.value)


class RunStop(StrEnum):
    """Why a run sends no further requests before it is complete."""

    BUDGET = "budget"
    OUTAGE = "outage"  # the provider does not answer
    REFUSED = "refused"  # every request will be refused, e.g. for a wrong key or model name
    INTERRUPT = "interrupt"


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


class ChosenBy(StrEnum):
    """The rule that chose the final solution."""

    PASSED_PUBLIC_TESTS = "passed_public_tests"
    NEWEST = "newest"
    MOST_PUBLIC_TESTS = "most_public_tests"  # of several that failed a public test
    PROSE = "prose"  # found in a message of a model that did not use the tools
    FAILED_CALL = "failed_call"  # found in a call that could not be carried out
    AGREEMENT = "agreement"  # of solutions and tests that the model wrote
    ANSWER = "answer"  # the only program of an answer
    NONE = "none"


ToolProtocolUsed = Literal["native", "text", "none"]
"""How programs are handed in: by native calls, in text, or in text without a loop."""


class Limits(Frozen):
    """Limits of one sample; None is no limit.

    Attributes:
        turns: model calls.
        tool_calls: executed tool calls.
        tokens: input and output tokens of all calls; a model that does not report tokens is
            stopped after its first call.
        seconds: working seconds, without waiting for the provider's rate limit, the end of an
            outage or a sandbox worker.
        wall_seconds: all seconds, including waiting, since the sample was started or resumed.
    """

    turns: int = 10
    tool_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    wall_seconds: float | None = None


class LoopFacts(Frozen):
    """What the requests after a sample's first brought; all are numbers of one sample, or sums.

    Attributes:
        later: requests after the first.
        new_programs: those of them that brought a program unlike all earlier ones of the sample.
        named_tools: programs that hold the name of a tool of the loop.
        repeats: programs that were written before.
        restarts: times that the sample began anew because of them.
        renewed: new conversations because the provider refused one, or native tools did not work.
        silent: messages of the loop without a call or a program.
        without_reasoning: 1 if the provider refused the reasoning of earlier answers, so that it
            was left out.
    """

    later: int = 0
    new_programs: int = 0
    named_tools: int = 0
    repeats: int = 0
    restarts: int = 0
    renewed: int = 0
    silent: int = 0
    without_reasoning: int = 0

    def __add__(self, other: "LoopFacts") -> "LoopFacts":
        return LoopFacts(**{key: value + getattr(other, key) for key, value in self})

    def __bool__(self) -> bool:
        return any(vars(self).values())


class Attempt(Frozen):
    """A final solution and how it was produced.

    Attributes:
        code: the final solution; empty if there is none.
        extraction: rule of `harness.agent.extraction.code` that found the code in a message; empty
            if it was written with a tool.
        revisions: all revisions, oldest first.
        tool_protocol: how the model called its tools, or was told to; None if there was no answer.
        fallback: whether native tools did not work, so that the loop went on in text.
        loop: what the requests after the first brought.
        refused: whether the model, or the provider's filter, refused to continue.
        error: the provider's message after `model_error`, the model's after a refusal.
        confined: whether a user's own agent was isolated from the hidden tests; None if there was
            none.
        written_tests: tests that the model wrote.
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
    revisions: tuple[Revision, ...] = ()
    tool_protocol: ToolProtocolUsed | None = None
    fallback: bool = False
    loop: LoopFacts = LoopFacts()
    refused: bool = False
    error: str = ""
    confined: bool | None = None
    written_tests: tuple[TestCase, ...] = ()

    @property
    def written(self) -> int:
        """Number of revisions."""
        return len(self.revisions)


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


class Strategy(Protocol):
    """A procedure for finding a solution."""

    async def __call__(self, session: Session) -> Attempt:
        """Try to solve the problem.

        If the provider does not answer, the attempt ends with `model_error`, not with an
        exception.

        Raises:
            SandboxError: the tests could not be run.
        """
        ...


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
