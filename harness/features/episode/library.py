"""`Episode`: the agent loop of an evaluation, with the model outside and a reward at its end."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack

from pydantic_core import to_json

from harness.agent.attempt import Session, StopReason
from harness.agent.dialogue import Dialogue, writable_turn
from harness.agent.episode import AgentEpisode
from harness.agent.journal import Journal
from harness.agent.problem_workspace import workspace_of
from harness.closing import Closing
from harness.errors import DataError, UsageError
from harness.features.episode.policy import Answer, Policy, turn_of
from harness.features.episode.reward import EpisodeReward, RewardRule, lost, reward_of
from harness.features.episode.shared import EpisodeKeys, Episodes, tool_schemas
from harness.grading.jobs import Judgement
from harness.grading.verdict import Grade, Verdict
from harness.models.clients.openai_wire import message_to_wire
from harness.models.protocol import ModelSettings, ModelStop, ModelTurn, ToolCall, ToolMessage
from harness.models.text_tools.tool_protocol import with_tools
from harness.problem import Problem
from harness.run.plan.problem_kinds import judge_answer
from harness.run.plan.problem_loader import Benchmark
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.program import SandboxError

T = TypeVar("T")
Json = dict[str, Any]
TRIES = 2  # at judging a solution whose sandbox failed
OVER = "The episode is over: the call was not carried out."
SANDBOX_LOST = "The tests could not be run, which is no fault of the solution. The episode is over."
SANDBOX_ERROR = "sandbox_error"
_SETTINGS = ModelSettings()


@dataclass(frozen=True, slots=True)
class EpisodeStep:
    """What an answer led to.

    Attributes:
        messages: what to append to the conversation after the answer; none once it is over.
        done: whether the episode is over.
        stop_reason: why; None while it goes on.
        restarted: `messages` are the whole conversation, which is not the earlier one with more
            after it. This happens to a model that calls no tool: unless `tool_protocol` is
            `native`, its tools are told in text after two such answers, and later not at all.
    """

    messages: list[Json]
    done: bool
    stop_reason: str | None
    restarted: bool = False


class Episode(Closing):
    """One problem at a time, worked on with the tools of an evaluation.

    `reset` gives the opening messages. Then either hand each answer of the model to `step`, or call
    the tools' methods; `reward` judges what came of it on the hidden tests. What the model sees is,
    byte for byte, what it sees in `harness run --agentic-mode` with the same settings.

    An episode is used by one rollout at a time, and may be reset any number of times. The names
    with an `a` before them are the same in a running event loop.

    Args:
        episodes: what it shares with others; or a benchmark, or loaded problems, or None, for an
            episode with sandboxes of its own.
        reward: as `Episodes` has it.
        keys: of a spec, as `Episodes` has them.

    Raises:
        HarnessError: as `Episodes` does.
    """

    def __init__(
        self,
        episodes: Episodes | Benchmark | None = None,
        *,
        reward: RewardRule = "solved",
        **keys: Unpack[EpisodeKeys],
    ) -> None:
        self._own = not isinstance(episodes, Episodes)
        if isinstance(episodes, Episodes):
            if keys or reward != "solved":
                raise UsageError("Episode(): settings belong to the Episodes that it is one of")
            self._shared = episodes
        else:
            self._shared = Episodes(episodes, reward=reward, **keys)
        self._state: _State | None = None

    @property
    def messages(self) -> list[Json]:
        """The messages of the next request, as the chat completions API has them."""
        return self._there().wire()

    @property
    def tools(self) -> list[Mapping[str, Any]]:
        """The tools of the next request, as JSON schemas; none where they are told in text."""
        if self._state is None:
            return tool_schemas(self._shared.tools)
        return tool_schemas(self._state.policy.tools)

    @property
    def problem(self) -> Problem:
        """The problem that it is about, hidden tests included: not for the model."""
        return self._there().problem

    @property
    def done(self) -> bool:
        """Whether it is over: no further answer is wanted."""
        return self._there().stop_reason is not None

    @property
    def stop_reason(self) -> str | None:
        """Why it is over: a word of `StopReason`, or `sandbox_error`; None while it goes on."""
        return self._there().stop_reason

    def reset(self, problem: Problem | str) -> list[Json]:
        """Begin anew, and return the opening messages.

        Args:
            problem: a problem, or the id of one of the `Episodes`.

        Raises:
            UsageError: there is no such problem, or a setting does not go with its kind.
            VettingError: the sandbox failed while the problem's examples were checked.
        """
        return _result(self._begin_reset(problem))

    async def areset(self, problem: Problem | str) -> list[Json]:
        """Begin anew, and return the opening messages; see `reset`."""
        return await asyncio.wrap_future(self._begin_reset(problem))

    def step(self, answer: Answer, *, cut_off: bool = False) -> EpisodeStep:
        """Carry out what an answer of the model asks for.

        A sandbox that fails ends the episode: `stop_reason` is `sandbox_error`, and the reward has
        no value.

        Args:
            answer: its text; or a message of the chat completions API; or its tool calls. Calls in
                text are found as an evaluation finds them.
            cut_off: whether the answer ended because it reached the token limit.

        Raises:
            UsageError: the episode is over or not begun, or the answer is none.
        """
        return _result(self._begin_step(answer, cut_off=cut_off))

    async def astep(self, answer: Answer, *, cut_off: bool = False) -> EpisodeStep:
        """Carry out what an answer of the model asks for; see `step`."""
        return await asyncio.wrap_future(self._begin_step(answer, cut_off=cut_off))

    def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> str:
        """Call one tool, where somebody else reads the model's answers; return what it says.

        Each call counts as a turn in the reward's parts. The limit of turns is the caller's to
        keep, as it alone knows which calls are of one answer.

        Args:
            name: of the tool.
            arguments: JSON text, or an object.
        """
        return _result(self._begin_call(name, arguments))

    async def acall(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> str:
        """Call one tool; see `call`."""
        return await asyncio.wrap_future(self._begin_call(name, arguments))

    def read_problem(self) -> str:
        """Call the tool `read_problem`."""
        return self.call("read_problem")

    def write_solution(self, code: str) -> str:
        """Call the tool `write_solution`."""
        return self.call("write_solution", {"code": code})

    def run_tests(self) -> str:
        """Call the tool `run_tests`."""
        return self.call("run_tests")

    def reward(self) -> EpisodeReward:
        """Judge the final solution on all tests, and return the reward with its parts.

        The final solution is chosen as an evaluation chooses it. Asked before the episode is over,
        this ends it as `model_stopped`. It is judged once; further calls return the same.

        Raises:
            UsageError: the episode has not begun.
            Exception: what a reward function of your own raises.
        """
        return _result(self._begin_reward())

    async def areward(self) -> EpisodeReward:
        """Judge the final solution on all tests; see `reward`."""
        return await asyncio.wrap_future(self._begin_reward())

    def close(self) -> None:
        """End the sandboxes where they are this episode's own."""
        if self._own:
            self._shared.close()

    def _there(self) -> "_State":
        if self._state is None:
            raise UsageError("the episode has not begun: call reset(problem) first")
        return self._state

    def _begin_reset(self, problem: Problem | str) -> Future[list[Json]]:
        found = self._shared.find(problem)

        async def begin(pool: Executor) -> list[Json]:
            self._state = state = await _State.of(self._shared, found, pool)
            return state.wire()

        return self._shared.begin(begin)

    def _begin_step(self, answer: Answer, *, cut_off: bool) -> Future[EpisodeStep]:
        return self._work(lambda state, _: state.step(answer, cut_off=cut_off))

    def _begin_call(self, name: str, arguments: Mapping[str, Any] | str) -> Future[str]:
        text = arguments if isinstance(arguments, str) else to_json(arguments, fallback=str)
        words = text if isinstance(text, str) else text.decode()
        return self._work(lambda state, _: state.call(name, words))

    def _begin_reward(self) -> Future[EpisodeReward]:
        return self._work(lambda state, pool: state.reward(pool))

    def _work(self, work: Callable[["_State", Executor], Coroutine[Any, Any, T]]) -> Future[T]:
        state = self._there()

        async def in_turn(pool: Executor) -> T:
            async with state.lock:
                return await work(state, pool)

        return self._shared.begin(in_turn)


class _State:
    """What there is between a reset and the next; lives in the loop of the sandboxes."""

    def __init__(self, shared: Episodes, problem: Problem, pool: Executor) -> None:
        rules = shared.rules_for([problem])
        self.shared, self.problem, self.rules = shared, problem, rules
        self.lock = asyncio.Lock()
        self.policy = Policy()
        self.model = with_tools(self.policy, shared.spec.tool_protocol)
        prompt, fallback = shared.prompts(rules)
        workspace = workspace_of(problem, shared.judging, pool)
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
            extract=rules.extractor(shared.spec.extract),
            fallback_prompt=fallback,
            ways=shared.ways,
            nudge=rules.nudge,
        )
        self.dialogue = Dialogue(self.session, toolbox.specs)
        self.loop = AgentEpisode(self.session, self.dialogue)
        self.stop_reason: str | None = None
        self.cause = ""
        self.judged: EpisodeReward | None = None

    @classmethod
    async def of(cls, shared: Episodes, problem: Problem, pool: Executor) -> "_State":
        state = cls(shared, await shared.vetted(problem, pool), pool)
        state.loop.open()
        await state.render()
        return state

    def wire(self) -> list[Json]:
        return [message_to_wire(each) for each in self.policy.sent]

    async def render(self) -> None:
        """Keep what the model would be sent now."""
        await self.model.generate(self.dialogue.messages, self.dialogue.tools, _SETTINGS)

    async def step(self, answer: Answer, *, cut_off: bool) -> EpisodeStep:
        if self.stop_reason is not None:
            raise UsageError(f"the episode is over ({self.stop_reason}): call reset(problem) first")
        turn = turn_of(answer, self.dialogue.messages, cut_off=cut_off)
        self.policy.answer = turn
        before = self.wire()
        turn = await self.model.generate(self.dialogue.messages, self.dialogue.tools, _SETTINGS)
        await self._take(turn)
        if self.stop_reason is not None:
            return EpisodeStep([], True, self.stop_reason)
        await self.render()
        now = self.wire()
        restarted = now[: len(before)] != before
        return EpisodeStep(now if restarted else now[len(before) + 1 :], False, None, restarted)

    async def call(self, name: str, arguments: str) -> str:
        if self.stop_reason is not None:
            return OVER if self.stop_reason != SANDBOX_ERROR else SANDBOX_LOST
        number = self.dialogue.turns + 1
        call = ToolCall(id=f"call_{number}", name=name, arguments=arguments)
        turn = ModelTurn(tool_calls=(call,), stop=ModelStop(reason="tool_use"))
        await self._take(turn, bounded=False)
        said = self.dialogue.messages[-1]
        return said.content if isinstance(said, ToolMessage) else SANDBOX_LOST

    async def _take(self, turn: ModelTurn, *, bounded: bool = True) -> None:
        turn = writable_turn(turn)
        self.dialogue.answered(turn)
        try:
            reason = await self.loop.take(turn) or self.loop.spent()
        except SandboxError as error:
            self.stop_reason, self.cause = SANDBOX_ERROR, str(error)
            return
        if reason is StopReason.TURN_LIMIT and not bounded:
            return
        self.stop_reason = None if reason is None else reason.value

    async def reward(self, pool: Executor) -> EpisodeReward:
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
    """Do it, and once more where the sandbox failed. Raises SandboxError."""
    for _ in range(TRIES - 1):
        try:
            return await work()
        except SandboxError:
            continue
    return await work()


def _forget(event: object) -> None:
    """Write no transcript."""


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
