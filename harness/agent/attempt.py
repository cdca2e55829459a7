"""Attempts at samples: what a strategy did, why it stopped, and its limits."""

from enum import StrEnum
from typing import Literal

from harness.frozen import Frozen
from harness.models.protocol import Usage
from harness.problem import TestCase
from harness.tools.revision import Revision

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


class RunStop(StrEnum):
    """Why a run sends no further requests before it is complete."""

    BUDGET = "budget"
    OUTAGE = "outage"  # the provider does not answer
    REFUSED = "refused"  # every request will be refused, e.g. for a wrong key or model name
    INTERRUPT = "interrupt"


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
