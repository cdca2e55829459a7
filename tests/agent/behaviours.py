"""What models do, as a table: named behaviours, and how each strategy comes to its end on them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripted import USAGE, Step, call, read, run, turn, write

from harness.agent.attempt import StopReason
from harness.agent.strategies.modes import built_in_modes
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelStop,
    ModelTurn,
    Retry,
)
from harness.models.providers import ToolProtocol
from harness.problem import ProblemView

TURNS, SHOTS, ROUNDS = 6, 3, 2
FOR_EVER = 12  # answers: more than any strategy asks for

PASSED, STOPPED = StopReason.PUBLIC_TESTS_PASSED, StopReason.MODEL_STOPPED
CONTEXT, FAILED = StopReason.CONTEXT_LIMIT, StopReason.MODEL_ERROR

Answer = tuple[Step, ...]
"""What comes of one request: retries, then a turn or an error."""


@dataclass(frozen=True)
class Programs:
    """Solutions of one problem, by what becomes of them."""

    right: str
    wrong: str
    crashing: str
    uncompilable: str = "def (:\n"

    @classmethod
    def of(cls, view: ProblemView, reference: str) -> "Programs":
        if view.entry_point is None:
            return cls(reference, "print('wrong')\n", "raise ValueError('boom')\n")
        head = f"class Solution:\n    def {view.entry_point}(self, *given):\n        "
        return cls(reference, f"{head}return 'wrong'\n", f"{head}raise ValueError('boom')\n")


def fenced(code: str) -> str:
    return f"This is it:\n```python\n{code}```"


def stopped(model_turn: ModelTurn, reason: Any) -> ModelTurn:
    return model_turn.model_copy(update={"stop": ModelStop(reason=reason, provider_word=reason)})


class Voice:
    """How a model hands a program in: through the tools, or in words."""

    def __init__(self, programs: Programs, mode: str) -> None:
        self.programs = programs
        self.hands_in = mode == "agentic"

    def says(self, code: str) -> ModelTurn:
        return turn(write(code), run()) if self.hands_in else turn(text=fenced(code))

    @property
    def right(self) -> ModelTurn:
        return self.says(self.programs.right)

    @property
    def wrong(self) -> ModelTurn:
        return self.says(self.programs.wrong)


Steps = Callable[[Voice], list[Step | Answer]]


def once(*steps: Callable[[Voice], Step | Answer]) -> Steps:
    """These, and the last for ever."""
    return lambda voice: [step(voice) for step in (*steps, *[steps[-1]] * FOR_EVER)]


def right(voice: Voice) -> Step:
    return voice.right


def wrong(voice: Voice) -> Step:
    return voice.wrong


def always(make: Callable[[], Step]) -> Callable[[Voice], Step]:
    return lambda _voice: make()


def called(name: str, arguments: str = "{}") -> Callable[[Voice], Step]:
    return lambda _voice: turn(call(name, arguments))


def said(text: str, reason: str = "end_turn") -> Callable[[Voice], Step]:
    return lambda _voice: stopped(turn(text=text), reason)


def doubly_encoded(voice: Voice) -> Step:
    arguments = json.dumps(json.dumps({"code": voice.programs.right}))
    return turn(call("write_solution", arguments), run())


def all_at_once(voice: Voice) -> Step:
    wrong, right = voice.programs.wrong, voice.programs.right
    return turn(read(), write(wrong), run(), write(right), run())


def written_only(voice: Voice) -> Step:
    return turn(write(voice.programs.right)) if voice.hands_in else voice.wrong


def tested(voice: Voice) -> Step:
    return turn(run()) if voice.hands_in else voice.right


def cut_within_a_call(voice: Voice) -> Step:
    del voice
    return stopped(turn(read(), call("write_solution", '{"code": "a, b')), "max_tokens")


def written_in_text(voice: Voice) -> Step:
    write = {"name": "write_solution", "arguments": {"code": voice.programs.right}}
    blocks = (write, {"name": "run_tests", "arguments": {}})
    return turn(text="\n".join(f"```json\n{json.dumps(block)}\n```" for block in blocks))


def retried(step: Callable[[Voice], Step]) -> Callable[[Voice], Answer]:
    """Three requests for one answer: a second failed one was paid for."""
    plain = Retry(attempt=1, cause="HTTP 503", wait_s=0.0, status=503)
    paid = Retry(attempt=2, cause="an answer of no use", wait_s=0.0, usage=USAGE)
    return lambda voice: (plain, paid, step(voice))


def too_long() -> Step:
    return ContextOverflowError("HTTP 400: too long")


def down() -> Step:
    return ModelError("HTTP 503: down")


@dataclass(frozen=True)
class Behaviour:
    """What a model answers, one request after the other, and the stop reason of each strategy.

    `ends`: of `agentic`, `best_of_k_public` and `self_repair`; a single shot is stopped by the
    model. `tool_use`: how the agent loop gives the model its tools.
    """

    steps: Steps
    ends: tuple[StopReason, StopReason, StopReason]
    tool_use: ToolProtocol = "native"

    def answers(self, programs: Programs, mode: str) -> list[Answer]:
        steps = self.steps(Voice(programs, mode))
        return [step if isinstance(step, tuple) else (step,) for step in steps]

    def end(self, mode: str) -> StopReason:
        agentic, best_of, repair = self.ends
        return {"agentic": agentic, "best_of_k_public": best_of, "self_repair": repair}.get(
            mode, STOPPED
        )


_solved = (PASSED, PASSED, PASSED)
_given_up = (STOPPED, STOPPED, STOPPED)
_silent = (StopReason.TURN_LIMIT, STOPPED, STOPPED)  # the agent begins anew twice, in six turns

BEHAVIOURS: dict[str, Behaviour] = {
    "solves at once": Behaviour(once(right), _solved),
    "fails, then solves": Behaviour(once(wrong, right), _solved),
    "broken JSON": Behaviour(once(called("write_solution", '{"code": "a'), right), _solved),
    "doubly encoded JSON": Behaviour(once(doubly_encoded, right), _solved),
    "an unknown tool": Behaviour(once(called("compile"), right), _solved),
    "prose with code": Behaviour(
        once(lambda voice: turn(text=fenced(voice.programs.right))), _solved
    ),
    "prose without": Behaviour(once(said("Let me think about it.")), _silent),
    "nothing": Behaviour(once(said("")), _silent),
    "a refusal": Behaviour(once(said("I will not.", "refusal")), _given_up),
    "content filter twice": Behaviour(
        once(said("", "content_filter"), said("", "content_filter"), right),
        (STOPPED, PASSED, STOPPED),  # of several shots, one that is withheld ends nothing
    ),
    "cut off by the token limit": Behaviour(
        once(said("Let me think", "max_tokens"), cut_within_a_call, right), _solved
    ),
    "says that it is done, and tests when told": Behaviour(
        once(written_only, said("I have written the solution."), tested, right), _solved
    ),
    "several calls in one message": Behaviour(once(all_at_once, right), _solved),
    "the same failing solution": Behaviour(
        once(wrong), (StopReason.REPEATED_SOLUTION, STOPPED, STOPPED)
    ),
    "a compile error": Behaviour(
        once(lambda voice: voice.says(voice.programs.uncompilable), right), _solved
    ),
    "reads without end": Behaviour(
        once(always(lambda: turn(read()))), (StopReason.TURN_LIMIT, STOPPED, STOPPED)
    ),
    "overflow at turn 2": Behaviour(once(wrong, always(too_long)), (CONTEXT, CONTEXT, CONTEXT)),
    "overflow at turn 2, and a shorter conversation": Behaviour(
        once(wrong, always(too_long), right), (PASSED, CONTEXT, CONTEXT)
    ),
    "provider error at turn 2": Behaviour(once(wrong, always(down)), (FAILED, FAILED, FAILED)),
    "code that crashes": Behaviour(
        once(lambda voice: voice.says(voice.programs.crashing), right), _solved
    ),
    "calls written in text": Behaviour(once(written_in_text, right), _solved, "text"),
    "programs in text": Behaviour(
        once(
            lambda voice: turn(text=fenced(voice.programs.wrong)),
            lambda voice: turn(text=fenced(voice.programs.right)),
        ),
        _solved,
        "text",
    ),
    "retried requests": Behaviour(
        once(retried(wrong), retried(always(too_long)), retried(right)), (PASSED, CONTEXT, CONTEXT)
    ),
}
MODES = tuple(mode.name for mode in built_in_modes(asking=True))
