"""One rollout of an `Episode`: the agent loop, its steps, and the judging."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from harness.agent.attempt import StopReason
from harness.agent.dialogue import Dialogue, writable_turn
from harness.agent.episode import AgentEpisode
from harness.agent.journal import Journal
from harness.agent.sample_workspace import workspace_of
from harness.agent.session import Session
from harness.errors import DataError, UsageError
from harness.features.episode.reward import EpisodeReward, lost, reward_of
from harness.features.episode.shared import Episodes
from harness.grading.jobs import Judgement
from harness.grading.verdict import Grade, Verdict
from harness.kinds.questions.judge import judge_answer
from harness.models.clients.openai_answer import turn_from_wire
from harness.models.clients.openai_request import message_to_wire
from harness.models.clients.wire import read_json
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import (
    Message,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolCall,
    ToolSpec,
)
from harness.models.unasked import UnaskedModel
from harness.problem import Problem
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.sample_gate import SampleGate
from harness.run.plan.budget import Allowance, Budget
from harness.sandbox.execution import SandboxError
from harness.sandbox.executor import Executor, Shared

Answer = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A model's answer: text, a message of the chat completions API, or tool calls."""

_EMPTY = ModelTurn(stop=ModelStop(reason="end_turn"))
T = TypeVar("T")
TRIES = 2  # attempts to judge a solution if the sandbox fails
OVER = "The episode is over: the call was not carried out."
SANDBOX_LOST = "The tests could not be run; that is not the solution's fault. The episode is over."
SANDBOX_ERROR = "sandbox_error"
_SETTINGS = ModelSettings()


class Policy(UnaskedModel):
    """Placeholder for a model run by the caller; stores each request.

    Attributes:
        sent: messages of the newest request, as an evaluation would send them.
        tools: tools of the newest request.
    """

    def __init__(self) -> None:
        super().__init__("policy")
        self.sent: tuple[Message, ...] = ()
        self.tools: tuple[ToolSpec, ...] = ()

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,  # noqa: ARG002 - protocol
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Store the request; the answer comes from the caller."""
        self.sent, self.tools = tuple(messages), tuple(tools)
        return _EMPTY


def turn_of(answer: Answer, messages: Sequence[Message], *, cut_off: bool) -> ModelTurn:
    """Convert a model's answer to a turn of the agent loop.

    Args:
        answer: see `Answer`. A tool call is `{"id", "type", "function": {"name", "arguments"}}` or
            `{"name", "arguments"}`; arguments are JSON text or an object.
        messages: the conversation so far, needed for unique call ids.
        cut_off: whether the answer was cut off by the token limit.

    Raises:
        UsageError: the answer has none of these forms.
    """
    message: dict[str, Any]
    if isinstance(answer, str):
        message = {"content": answer}
    elif isinstance(answer, Mapping):
        message = dict(answer)
        calls = message.get("tool_calls") or ()
        message["tool_calls"] = [_call(each) for each in _listed(calls)]
    else:
        message = {"content": "", "tool_calls": [_call(each) for each in _listed(answer)]}
    finish = "length" if cut_off else "stop"
    wire = {"choices": [{"message": message, "finish_reason": finish}]}
    try:  # read as an evaluation reads a server's answer
        return turn_from_wire(read_json(json.dumps(wire, default=str).encode()), messages)
    except MalformedAnswerError as error:
        raise UsageError(f"Episode.step(): {error}") from error


def _listed(calls: object) -> list[Any]:
    if isinstance(calls, Sequence) and not isinstance(calls, str):
        return list(cast("Sequence[Any]", calls))
    raise UsageError(
        f"Episode.step(): a {type(calls).__name__} is not an answer; give text, a message, or a "
        "list of tool calls"
    )


def _call(call: object) -> dict[str, Any]:
    """Convert a tool call to the format of the chat completions API."""
    if not isinstance(call, Mapping):
        raise UsageError(
            f"Episode.step(): a {type(call).__name__} is not a tool call; give a mapping"
        )
    fields = dict(cast("Mapping[str, Any]", call))
    if "function" not in fields:
        fields = {
            "id": fields.get("id"),
            "function": {"name": fields.get("name"), "arguments": fields.get("arguments")},
        }
    return fields


Json = dict[str, Any]


class EpisodeStep(NamedTuple):
    """Result of one answer of the model.

    Attributes:
        messages: messages to append to the conversation after the answer; none at the end.
        done: whether the episode is over.
        stop_reason: why it is over; None while it goes on.
        restarted: whether `messages` replace the whole conversation instead of continuing it: the
            model called no tool in two answers, repeated itself, or `context` is `fresh`.
    """

    messages: list[Json]
    done: bool
    stop_reason: str | None
    restarted: bool = False


class Rollout:
    """One problem between two resets; runs in the sandboxes' event loop."""

    def __init__(self, shared: Episodes, problem: Problem, pool: Executor) -> None:
        rules = shared.rules_for([problem])
        self.shared, self.problem, self.rules = shared, problem, rules
        self.lock = asyncio.Lock()
        self.policy = Policy()
        prompt = shared.prompt(rules)
        workspace = workspace_of(problem, shared.judging, pool, prompt, shared.spec.report_tests)
        toolbox = shared.toolbox(rules)
        self.session = Session(
            problem=workspace.problem,
            model=self.policy,
            settings=_SETTINGS,
            prompt=prompt,
            toolbox=toolbox,
            workspace=workspace,
            limits=shared.limits,
            journal=Journal(_forget),
            gate=SampleGate(RateLimiter(1), Budget(Allowance())),
            extract=rules.extractor(shared.spec.extract),
            options=shared.options,
        )
        self.dialogue = Dialogue(self.session)
        native = shared.spec.tool_protocol != "text"
        self.loop = AgentEpisode(self.session, self.dialogue, native=native)
        self.stop_reason: str | None = None
        self.cause = ""
        self.judged: EpisodeReward | None = None

    @classmethod
    async def of(cls, shared: Episodes, problem: Problem, pool: Executor) -> "Rollout":
        """Start on a problem. Raises UsageError."""
        state = cls(shared, problem, pool)
        state.loop.open()
        await state.render()
        return state

    def wire(self) -> list[Json]:
        """Return the next request's messages in the chat completions format."""
        return [message_to_wire(each) for each in self.policy.sent]

    async def render(self) -> None:
        """Store the request that the model would now be sent."""
        await self.policy.generate(self.dialogue.messages, self.dialogue.tools, _SETTINGS)

    async def step(self, answer: Answer, *, cut_off: bool) -> EpisodeStep:
        """Process an answer of the model; see `Episode.step`."""
        if self.stop_reason is not None:
            raise UsageError(f"the episode is over ({self.stop_reason}): call reset(problem) first")
        turn = turn_of(answer, self.dialogue.messages, cut_off=cut_off)
        before = self.wire()
        await self._take(turn)
        if self.stop_reason is not None:
            return EpisodeStep([], True, self.stop_reason)
        await self.render()
        now = self.wire()
        restarted = len(now) <= len(before) or now[: len(before)] != before
        return EpisodeStep(now if restarted else now[len(before) + 1 :], False, None, restarted)

    async def call(self, name: str, arguments: str) -> str:
        """Call one tool; see `Episode.call`."""
        if self.stop_reason is not None:
            return OVER if self.stop_reason != SANDBOX_ERROR else SANDBOX_LOST
        number = self.dialogue.turns + 1
        call = ToolCall(id=f"call_{number}", name=name, arguments=arguments)
        turn = ModelTurn(tool_calls=(call,), stop=ModelStop(reason="tool_use"))
        await self._take(turn, by_caller=True)
        return SANDBOX_LOST if self._is_lost() else self.loop.results[-1].content

    def _is_lost(self) -> bool:
        """Whether the sandbox failed."""
        return self.stop_reason == SANDBOX_ERROR

    async def _take(self, turn: ModelTurn, *, by_caller: bool = False) -> None:
        """Process a turn; `by_caller`: the caller reads the answers, and holds the conversation."""
        turn = writable_turn(turn)
        self.loop.by_caller = by_caller
        self.dialogue.answered(turn)
        try:
            reason = await self.loop.take(turn) or self.loop.spent()
        except SandboxError as error:
            self.stop_reason, self.cause = SANDBOX_ERROR, str(error)
            return
        if reason is StopReason.TURN_LIMIT and by_caller:
            return
        self.stop_reason = None if reason is None else reason.value

    async def reward(self, pool: Executor) -> EpisodeReward:
        """Judge the final solution once; see `Episode.reward`."""
        if self.judged is None:
            if self.stop_reason is None:
                self.stop_reason = StopReason.MODEL_STOPPED.value
            self.judged = await self._judged(pool)
        return self.judged

    async def _judged(self, pool: Executor) -> EpisodeReward:
        name, word = self.problem.id, self.stop_reason or ""
        if word == SANDBOX_ERROR:
            return lost(name, None, self.cause, word)
        reason = StopReason(word)
        try:
            await _again(lambda: self.loop.test_final(reason))
            attempt = self.loop.attempt(reason)
            grade = await _again(lambda: self._grade(attempt.code, pool))
        except (SandboxError, DataError) as error:
            return lost(name, self.loop.attempt(reason), str(error), word)
        return reward_of(name, attempt, grade, self.shared.rule)

    async def _grade(self, code: str, pool: Executor) -> Grade:
        if not self.rules.runs_code:
            return await asyncio.to_thread(judge_answer, self.problem, code)
        if not code.strip():
            tests = await asyncio.to_thread(self.problem.tests.all)
            public = sum(test.public for test in tests)
            return Grade(
                verdict=Verdict.NO_SOLUTION if tests else Verdict.UNGRADED,
                public_total=public,
                hidden_total=len(tests) - public,
            )
        task = self.shared.judging.task(self.problem, code, ())
        return await pool.call(Judgement(task, Shared(self.problem.tests)))


async def _again(work: Callable[[], Awaitable[T]]) -> T:
    """Call `work`, and retry it if the sandbox fails. Raises SandboxError."""
    for _ in range(TRIES - 1):
        try:
            return await work()
        except SandboxError:
            continue
    return await work()


def _forget(event: object) -> None:
    """Discard an event: an episode has no transcript."""
