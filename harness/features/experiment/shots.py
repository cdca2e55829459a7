"""Compute how many single shots per problem cost as much as an agent's sample."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.features.experiment.grid import OF_THE_WHOLE
from harness.run.spec.spec import uses
from harness.run.store.results import SampleResult

SINGLE_SHOT = "single_shot"
MOST = 100
"""Most shots per problem, whatever the agent spends."""

Unit = Literal["cost", "tokens", "calls"]
Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spend:
    """Mean spend of a cell's samples; None for a unit unknown in any sample.

    Attributes:
        cost: US dollars per sample.
        tokens: input and output tokens per sample.
        calls: model calls per sample.
    """

    cost: float | None
    tokens: float | None
    calls: float


def mean_spend(results: Collection[SampleResult]) -> Spend | None:
    """Return the mean spend of the graded samples; None if none is graded."""
    graded = [result for result in results if result.graded]
    if not graded:
        return None
    costs = [result.cost for result in graded if result.cost is not None]
    tokens = [result.usage.total_tokens for result in graded if result.usage is not None]
    number = len(graded)
    return Spend(
        cost=math.fsum(costs) / number if len(costs) == number else None,
        tokens=sum(tokens) / number if len(tokens) == number else None,
        calls=sum(result.model_calls for result in graded) / number,
    )


def affordable(agent: Spend, shot: Spend) -> tuple[float, Unit]:
    """Return how many shots cost as much as an agent's sample, and the unit compared.

    The unit is dollars if both costs are known and the shot's is not 0, else tokens, else model
    calls.
    """
    if agent.cost is not None and shot.cost:
        return agent.cost / shot.cost, "cost"
    if agent.tokens is not None and shot.tokens:
        return agent.tokens / shot.tokens, "tokens"
    return (agent.calls / shot.calls if shot.calls else 1.0), "calls"


def whole_shots(ratio: float) -> int:
    """Return the shots that cover a spend, between 1 and `MOST`."""
    return max(1, min(MOST, math.ceil(ratio - 1e-9)))


def agents_of(shot: Spec, cells: Mapping[str, Spec]) -> list[str]:
    """Return the cells whose spend decides a single-shot cell's number of shots.

    These are the cells of other modes with the same value of every setting that single shot uses.
    """
    apart = {*OF_THE_WHOLE, "mode", "samples_per_problem", "price", "prices"}
    keys = [key for key in shot if key not in apart and uses(SINGLE_SHOT, key)]
    return [
        name
        for name, spec in cells.items()
        if spec["mode"] != SINGLE_SHOT
        and all(spec.get(key) == shot[key] for key in keys if uses(spec["mode"], key))
    ]


def chosen_by_public_tests(samples: Sequence[SampleResult]) -> SampleResult:
    """Return the sample that passes the most public tests; the first one on a tie."""
    return max(samples, key=lambda result: (result.public_passed, -result.index))
