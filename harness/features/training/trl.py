"""TRL: environment, data set and reward, named like arguments of `GRPOTrainer`.

    spec = TrlSpec("livecodebench:release_v5", max_release_date="2024-09-01", reward="shaped")
    trainer = GRPOTrainer(
        model=...,
        args=GRPOConfig(max_tool_calling_iterations=spec.max_tool_calling_iterations, ...),
        train_dataset=spec.train_dataset,
        environment_factory=spec.environment_factory,
        reward_funcs=spec.reward_funcs,
    )

Written for TRL 1.16, whose `environment_factory` is experimental. TRL itself is not imported.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Unpack

from harness.closing import Closing
from harness.errors import UsageError
from harness.features.episode.library import Episode
from harness.features.episode.reward import EpisodeReward, RewardRule
from harness.features.episode.shared import EpisodeKeys, Episodes
from harness.models.protocol import ToolSpec
from harness.run.plan.problem_loader import Benchmark
from harness.run.session.sync import run

TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


class TrlSpec(Closing):
    """Arguments of `GRPOTrainer`, as properties of the same names.

    Args:
        problems: `NAME[:WHERE]` or loaded problems.
        reward: reward rule of `harness.Episodes`.
        keys: keys of the spec, as for `harness.Episodes`.

    Raises:
        HarnessError: as for `harness.Episodes`.
    """

    def __init__(
        self,
        problems: Benchmark,
        *,
        reward: RewardRule = "solved",
        **keys: Unpack[EpisodeKeys],
    ) -> None:
        if keys.setdefault("tool_protocol", "native") != "native":
            raise UsageError("TrlSpec(): tool_protocol must be native: TRL itself shows the tools")
        self.episodes = Episodes(problems, reward=reward, **keys)

    @property
    def max_tool_calling_iterations(self) -> int:
        """Most tool calls, for `GRPOConfig`: the turns of an evaluation."""
        return self.episodes.spec.max_turns

    @cached_property
    def train_dataset(self) -> Any:
        """A `datasets.Dataset` with columns `prompt` (opening messages) and `problem_id`."""
        datasets: Any = import_module("datasets")

        episode = Episode(self.episodes)
        rows = [
            {"prompt": episode.reset(problem), "problem_id": problem.id}
            for problem in self.episodes.order()
        ]
        return datasets.Dataset.from_list(rows)

    @cached_property
    def environment_factory(self) -> Callable[[], Any]:
        """A class without arguments whose public methods are `reset` and the tools."""
        methods = {spec.name: _method(spec) for spec in self.episodes.tools}
        bound = {"episodes": self.episodes}
        return type("HarnessEnvironment", (_Environment,), {**methods, "_shared": bound})

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """One reward function, which judges a whole batch; None marks failed judging."""
        return [harness_reward]

    def close(self) -> None:
        """Stop the sandboxes."""
        self.episodes.close()


class _Environment:
    """One rollout. TRL treats every public method except `reset` as a tool."""

    _shared: dict[str, Episodes]

    def __init__(self) -> None:
        self.episode = Episode(self._shared["episodes"])

    def reset(self, problem_id: str, **row: Any) -> None:
        """Start the problem of a row, whose prompt already holds the opening messages."""
        del row
        self.episode.reset(problem_id)


def _method(spec: ToolSpec) -> Callable[..., str]:
    """Return a tool as a typed method with a docstring, for TRL's JSON schema."""

    def method(self: _Environment, **arguments: Any) -> str:
        return self.episode.call(spec.name, arguments)

    properties: dict[str, Any] = spec.parameters["properties"]
    types = {name: TYPES.get(each.get("type", ""), str) for name, each in properties.items()}
    documented = [f"    {name}: {each['description']}" for name, each in properties.items()]
    lines = [spec.description, *(["", "Args:", *documented] if documented else [])]
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, kind in types.items():
        where = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(name, where, annotation=kind))
    method.__name__ = method.__qualname__ = spec.name
    method.__doc__ = "\n".join(lines)
    method.__annotations__ = types  # the model would be shown a return type
    vars(method)["__signature__"] = inspect.Signature(parameters)
    return method


def harness_reward(
    environments: Sequence[Any],
    log_metric: Callable[[str, float], None] | None = None,
    **columns: Any,
) -> list[float | None]:
    """Return the rewards of a batch; None, which TRL ignores, for failed judging.

    Args:
        environments: environments of the rollouts.
        log_metric: TRL's function; receives the means of `solved`, `overfit` and `format`.
        columns: other columns of the batch, ignored.
    """
    del columns

    async def judged() -> list[EpisodeReward]:
        episodes: list[Episode] = [each.episode for each in environments]
        return await asyncio.gather(*(each.areward() for each in episodes))

    rewards = run(judged)
    there = [each for each in rewards if each.value is not None]
    if log_metric is not None and there:
        log_metric("solved", sum(each.solved for each in there) / len(there))
        log_metric("overfit", sum(each.overfit for each in there) / len(there))
        log_metric("format", sum(each.format for each in there) / len(there))
    return [each.value for each in rewards]
