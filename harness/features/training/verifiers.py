"""verifiers 0.4: a taskset with the three tools, also for prime-rl.

    vf-eval harness_taskset --env.taskset.benchmark livecodebench:release_v5
    vf-validate harness_taskset --taskset.benchmark fixture
    vf-eval harness_taskset --env.taskset.benchmark icpc:FOLDER --env.taskset.language cpp

One tool server serves all rollouts of a worker with one set of fork servers. It stores nothing of a
rollout: revisions are in the rollout's state. The reward is judged in the worker, so hidden tests
reach neither the tool server's answers nor the model.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from pydantic import Field

from harness.agent.problem_kind import PROGRAMS
from harness.agent.strategies.modes import LOOP
from harness.agent.templates.prompt_set import DEFAULT, load_prompt
from harness.errors import HarnessError
from harness.features.episode.library import Episode
from harness.features.episode.reward import EpisodeReward
from harness.features.episode.shared import Episodes
from harness.languages import PYTHON, LanguageName
from harness.tools.toolbox import Toolbox

vf: Any = import_module("verifiers.v1")


_TOOLS = Toolbox(PROGRAMS.tools, load_prompt(DEFAULT, LOOP.name))


@lru_cache(maxsize=4)
def _episodes(benchmark: str, language: LanguageName, reward: str, workers: int | None) -> Episodes:
    rule: Any = reward
    return Episodes(
        benchmark, language=language, reward=rule, workers=workers, tool_protocol="native"
    )


class HarnessData(vf.TaskData):
    """A problem by its id; its tests are read where they are judged."""

    benchmark: str
    problem_id: str
    language: LanguageName = PYTHON
    reward_rule: str = "solved"
    workers: int | None = None


class HarnessState(vf.State):
    """State of a rollout.

    Attributes:
        revisions: solutions, the oldest first.
        passed: indices of the revisions that passed the public tests.
        lost: cause of a sandbox failure; empty if there was none.
    """

    benchmark: str = ""
    problem_id: str = ""
    revisions: list[str] = Field(default_factory=list[str])
    passed: list[int] = Field(default_factory=list[int])
    lost: str = ""


class HarnessTask(vf.Task[HarnessData, HarnessState]):
    """One problem, with the reward of `harness.Episode`."""

    async def setup(self, trace: Any, runtime: Any) -> None:
        """Store the problem in the rollout's state, for the tool server."""
        del runtime
        trace.state.benchmark, trace.state.problem_id = self.data.benchmark, self.data.problem_id

    @vf.reward
    async def harness_reward(self, trace: Any) -> float:
        """Judge the final solution. An infrastructure failure is an error, never 0."""
        state = trace.state
        if state.lost:
            raise HarnessError(f"the sandbox failed: {state.lost}")
        chosen = state.revisions[state.passed[-1] if state.passed else -1 :][:1]
        reward = await self._judged(chosen)
        if reward.value is None:
            raise HarnessError(f"the solution could not be judged: {reward.cause}")
        trace.record_metric("overfit", float(reward.overfit))
        trace.record_metric("fraction", reward.fraction)
        return reward.value

    async def validate(self, runtime: Any) -> bool | None:
        """Return whether a reference solution passes; None if there is no reference."""
        del runtime
        episodes = self._shared()
        references = episodes.find(self.data.problem_id).programs(self.data.language)
        if not references:
            return None
        return any([(await self._judged([code])).solved for code in references[:3]])

    def _shared(self) -> Episodes:
        data = self.data
        return _episodes(data.benchmark, data.language, data.reward_rule, data.workers)

    async def _judged(self, code: list[str]) -> EpisodeReward:
        episode = Episode(self._shared())
        await episode.areset(self.data.problem_id)
        for each in code:
            await episode.acall("write_solution", {"code": each})
        return await episode.areward()


class HarnessToolsConfig(vf.SharedToolsetConfig):
    """Benchmark, language of solutions, and number of sandboxes; None for one per core."""

    benchmark: str = "fixture"
    language: LanguageName = PYTHON
    workers: int | None = None


class HarnessTools(vf.Toolset[HarnessToolsConfig, HarnessState]):
    """The three tools, with the names and texts of an evaluation."""

    TOOL_PREFIX = None

    async def _call(self, name: str, **arguments: Any) -> str:
        state, own = self.state, self.config
        episode = Episode(_episodes(own.benchmark, own.language, "solved", own.workers))
        await episode.areset(state.problem_id)
        for code in state.revisions:
            await episode.acall("write_solution", {"code": code})
        result = await episode.acall(name, arguments)
        if episode.done and episode.stop_reason == "sandbox_error":
            state.lost = (await episode.areward()).cause
        elif name == "run_tests" and episode.stop_reason == "public_tests_passed":
            state.passed = [*state.passed, len(state.revisions) - 1]
        elif name == "write_solution" and episode.revisions > len(state.revisions):
            state.revisions = [*state.revisions, arguments["code"]]
        return result

    async def read_problem(self) -> str:  # noqa: D102 - the tool's description, below
        return await self._call("read_problem")

    async def write_solution(self, code: str) -> str:  # noqa: D102
        return await self._call("write_solution", code=code)

    async def run_tests(self) -> str:  # noqa: D102
        return await self._call("run_tests")

    read_problem.__doc__, write_solution.__doc__, run_tests.__doc__ = (
        spec.description for spec in _TOOLS.specs
    )
    read_problem, write_solution, run_tests = map(
        vf.tool, (read_problem, write_solution, run_tests)
    )


class HarnessConfig(vf.TasksetConfig):
    """Selection of problems and reward: keys of `harness.Episodes`."""

    benchmark: str = "fixture"
    language: LanguageName = PYTHON
    reward: str = "solved"
    min_release_date: str | None = None
    max_release_date: str | None = None
    exclude_known_issues: bool = False
    sample_size: int | None = None
    seed: int = 0
    part: str | None = None
    max_turns: int = 10
    workers: int | None = None


class HarnessTaskset(vf.Taskset[HarnessTask, HarnessConfig]):
    """The problems of a benchmark as tasks."""

    def load(self) -> Iterator[HarnessTask]:
        """Yield a task for each problem, in the random order given by the seed."""
        config = self.config
        names = ("min_release_date", "max_release_date", "exclude_known_issues", "sample_size")
        names = (*names, "part", "seed", "language")
        keys: dict[str, Any] = {name: getattr(config, name) for name in names}
        with Episodes(config.benchmark, max_turns=config.max_turns, **keys) as chosen:
            episode = Episode(chosen)
            for problem in chosen.order():
                system, user = (message["content"] for message in episode.reset(problem))
                data = HarnessData(
                    name=problem.id,
                    id=problem.id,
                    prompt=user,
                    system_prompt=system,
                    benchmark=config.benchmark,
                    problem_id=problem.id,
                    language=config.language,
                    reward_rule=config.reward,
                    workers=config.workers,
                )
                yield HarnessTask(data, config.task)

    @classmethod
    def toolsets(cls, config: HarnessConfig) -> list[HarnessTools]:
        """Return the one tool server of a worker."""
        tools = HarnessToolsConfig(
            benchmark=config.benchmark, language=config.language, workers=config.workers
        )
        return [HarnessTools(tools)]


if __name__ == "__main__":
    HarnessTools.run()
