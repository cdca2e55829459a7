"""`Episode`: the agent loop of an evaluation, for a model run by the caller."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar, Unpack

from pydantic_core import to_json

from harness.closing import Closing
from harness.errors import UsageError
from harness.features.episode.reward import EpisodeReward, RewardRule
from harness.features.episode.rollout import Answer, EpisodeStep, Rollout
from harness.features.episode.shared import EpisodeKeys, Episodes, tool_schemas
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark
from harness.run.settings.python_signature import listing
from harness.sandbox.executor import Executor

T = TypeVar("T")
Json = dict[str, Any]


class Episode(Closing):
    """Environment for one problem at a time, with the tools of an evaluation.

    `reset` returns the opening messages. Then either pass each answer of the model to `step`, or
    call the tool methods; `reward` judges the final solution on the hidden tests. The model sees,
    byte for byte, the same as in `harness run --agentic-mode` with the same settings.

    An episode serves one rollout at a time, and may be reset any number of times. Methods whose
    names start with `a`, such as `astep`, are the async versions.

    Args:
        episodes: the shared `Episodes`; or a benchmark, loaded problems or None for an episode
            with its own sandboxes.
        reward: see `Episodes`; only for an episode with its own sandboxes.
        keys: settings, see `Episodes`; only for an episode with its own sandboxes.

    Raises:
        HarnessError: see `Episodes`.
    """

    @listing(EpisodeKeys)
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
        """The messages of the next request in the format of the chat completions API."""
        return self._there().wire()

    @property
    def tools(self) -> list[Mapping[str, Any]]:
        """The tools of the next request as JSON schemas; empty if given as text."""
        if self._state is None:
            return tool_schemas(self._shared.tools)
        return tool_schemas(self._state.policy.tools)

    @property
    def problem(self) -> Problem:
        """The current problem with its hidden tests; do not show it to the model."""
        return self._there().problem

    @property
    def done(self) -> bool:
        """Whether the episode is over, so that no further answer is accepted."""
        return self._there().stop_reason is not None

    @property
    def stop_reason(self) -> str | None:
        """A value of `StopReason`, or `sandbox_error`; None while it goes on."""
        return self._there().stop_reason

    @property
    def revisions(self) -> int:
        """Number of solutions that were handed in. Raises UsageError before `reset`."""
        return len(self._there().session.workspace.revisions)

    def reset(self, problem: Problem | str) -> list[Json]:
        """Start on a problem and return the opening messages.

        Args:
            problem: a problem, or the id of a problem of the `Episodes`.

        Raises:
            UsageError: the problem is unknown, or a setting is invalid for its kind.
        """
        return _result(self._begin_reset(problem))

    async def areset(self, problem: Problem | str) -> list[Json]:
        """Start on a problem and return the opening messages; see `reset`."""
        return await asyncio.wrap_future(self._begin_reset(problem))

    def step(self, answer: Answer, *, cut_off: bool = False) -> EpisodeStep:
        """Execute the tool calls in an answer of the model.

        A sandbox failure ends the episode: `stop_reason` is `sandbox_error`, and the reward has no
        value.

        Args:
            answer: text, a message of the chat completions API, or tool calls. Tool calls in text
                are parsed as in an evaluation.
            cut_off: whether the answer was cut off by the token limit.

        Raises:
            UsageError: the episode is over or not started, or the answer has no valid form.
        """
        return _result(self._begin_step(answer, cut_off=cut_off))

    async def astep(self, answer: Answer, *, cut_off: bool = False) -> EpisodeStep:
        """Execute the tool calls in an answer of the model; see `step`."""
        return await asyncio.wrap_future(self._begin_step(answer, cut_off=cut_off))

    def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> str:
        """Call one tool and return its result; for callers that parse answers themselves.

        Each call counts as a turn in the reward's parts. The caller must enforce the limit of
        turns, because only the caller knows which calls belong to one answer.

        Args:
            name: name of the tool.
            arguments: arguments as JSON text or a mapping.
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
        """Judge the final solution on all tests; return the reward with its parts.

        The final solution is chosen as in an evaluation. If the episode is not over, this ends it
        with `model_stopped`. The solution is judged once; later calls return the same reward.

        Raises:
            UsageError: the episode has not started, or the reward function returns no number.
            Exception: any exception of a user's reward function.
        """
        return _result(self._begin_reward())

    async def areward(self) -> EpisodeReward:
        """Judge the final solution on all tests; see `reward`."""
        return await asyncio.wrap_future(self._begin_reward())

    def close(self) -> None:
        """Stop the sandboxes if they belong to this episode alone."""
        if self._own:
            self._shared.close()

    def _there(self) -> "Rollout":
        if self._state is None:
            raise UsageError("the episode has not begun: call reset(problem) first")
        return self._state

    def _begin_reset(self, problem: Problem | str) -> Future[list[Json]]:
        problem_found = self._shared.find(problem)

        async def begin(pool: Executor) -> list[Json]:
            self._state = state = await Rollout.of(self._shared, problem_found, pool)
            return state.wire()

        return self._shared.begin(begin)

    def _begin_step(self, answer: Answer, *, cut_off: bool) -> Future[EpisodeStep]:
        return self._work(lambda state, _: state.step(answer, cut_off=cut_off))

    def _begin_call(self, name: str, arguments: Mapping[str, Any] | str) -> Future[str]:
        text = arguments if isinstance(arguments, str) else to_json(arguments, fallback=str)
        line = text if isinstance(text, str) else text.decode()
        return self._work(lambda state, _: state.call(name, line))

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
