"""SkyRL: `HarnessEnv`, a `BaseTextEnv` of skyrl-gym 0.4 with tools in text.

    from skyrl_gym import register
    register(id="harness", entry_point="harness.features.training.skyrl:HarnessEnv")

A row of the training data has `problem_id` among its extras. The environment's settings hold
`benchmark`, `reward` and other keys of `harness.Episodes`.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from harness.errors import UsageError
from harness.features.episode.library import Episode
from harness.features.episode.shared import Episodes

if TYPE_CHECKING:
    from harness.features.episode.reward import EpisodeReward

_BASE: Any = import_module("skyrl_gym.envs.base_text_env").BaseTextEnv
Json = dict[str, Any]
METRICS = ("solved", "fraction", "overfit", "format", "turns", "tool_calls")


@lru_cache(maxsize=8)
def _episodes(settings: str) -> Episodes:
    """Return the problems and sandboxes, shared by environments of equal settings."""
    keys: Json = from_json(settings)
    benchmark = keys.pop("benchmark", None)
    if benchmark is None:
        raise UsageError("HarnessEnv: give `benchmark` in the environment's settings")
    given: Any = {"tool_protocol": "text", **keys}
    return Episodes(benchmark, **given)


class HarnessEnv(_BASE):
    """Environment for one problem at a time; the reward comes with the last step.

    Args:
        env_config: a mapping with `benchmark` and keys of `harness.Episodes`.
        extras: the row of the training data, with `problem_id`.

    Raises:
        HarnessError: as for `harness.Episodes`.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        _BASE.__init__(self)
        settings: Json = {**(env_config or {})}
        self._problem = (extras or {}).get("problem_id")
        if not isinstance(self._problem, str):
            raise UsageError("HarnessEnv: a row needs `problem_id` among its extras")
        self._episodes = _episodes(to_json(settings).decode())
        self._episode = Episode(self._episodes)
        self._reward: EpisodeReward | None = None
        self.max_turns = self._episodes.spec.max_turns

    def init(self, prompt: Sequence[Json]) -> tuple[list[Json], Json]:
        """Return the problem's opening messages in place of the row's, and its id."""
        del prompt
        self.turns, self._reward = 0, None
        return self._episode.reset(str(self._problem)), {"problem_id": self._problem}

    def step(self, action: str) -> Json:
        """Process an answer of the model.

        The reward of an unfinished episode is 0. If infrastructure failed, the last reward is NaN
        and
        `metadata["failed"]` is true: leave such a trajectory out. The episode ends when the model
        has
        called no tool in two turns, since text that was sent cannot be taken back here.
        """
        self.turns += 1
        step = self._episode.step(action)
        if not (step.done or step.restarted):
            return {"observations": step.messages, "reward": 0.0, "done": False, "metadata": {}}
        self._reward = reward = self._episode.reward()
        value = math.nan if reward.value is None else reward.value
        metadata: Json = {
            "failed": reward.failed,
            "cause": reward.cause,
            "stop_reason": reward.stop_reason,
            **self.get_metrics(),
        }
        return {"observations": [], "reward": value, "done": True, "metadata": metadata}

    def get_metrics(self) -> Json:
        """Return the parts of the reward as numbers; empty before the episode's end."""
        if self._reward is None:
            return {}
        return {name: float(getattr(self._reward, name)) for name in METRICS}

    def close(self) -> None:
        """Do nothing: the sandboxes are shared and end with the process."""
