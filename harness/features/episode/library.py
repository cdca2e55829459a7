"""`Episode`: the agent loop of an evaluation, with the model outside and a reward at its end."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar, Unpack

from pydantic_core import to_json

from harness.closing import Closing
from harness.errors import UsageError
from harness.features.episode.policy import Answer
from harness.features.episode.reward import EpisodeReward, RewardRule
from harness.features.episode.rollout import EpisodeStep, Rollout
from harness.features.episode.shared import EpisodeKeys, Episodes, tool_schemas
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark
from harness.sandbox.executor import Executor

T = TypeVar("T")
Json = dict[str, Any]


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
        self._state: Rollout | None = None

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

    def _there(self) -> "Rollout":
        if self._state is None:
            raise UsageError("the episode has not begun: call reset(problem) first")
        return self._state

    def _begin_reset(self, problem: Problem | str) -> Future[list[Json]]:
        found = self._shared.find(problem)

        async def begin(pool: Executor) -> list[Json]:
            self._state = state = await Rollout.of(self._shared, found, pool)
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

    def _work(self, work: Callable[["Rollout", Executor], Coroutine[Any, Any, T]]) -> Future[T]:
        state = self._there()

        async def in_turn(pool: Executor) -> T:
            async with state.lock:
                return await work(state, pool)

        return self._shared.begin(in_turn)


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
