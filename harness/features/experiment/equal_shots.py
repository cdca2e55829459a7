"""How many single shots a problem gets, so that all shots together cost what the agent spends."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from harness.agent.strategies.modes import mode_named
from harness.features.experiment.variants import OF_THE_WHOLE, Spec
from harness.run.settings.spec import uses
from harness.run.store.results import SampleResult
from harness.stats.rates import mean_by_problem

MOST_SHOTS = 100
"""Most shots per problem, whatever the agent spends."""

Unit = Literal["cost", "tokens", "calls"]
_NEAR = 1e-9
"""Relative rounding error of a spend."""


class Spend(NamedTuple):
    """Mean spend of a variant's samples; None for a unit unknown in any sample.

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


def agents_of(shot: Spec, variants: Mapping[str, Spec]) -> list[str]:
    """Return the variants whose spend decides a single-shot variant's number of shots.

    These are the variants of other modes with the same value of every setting that single shot
    uses.
    """
    apart = {*OF_THE_WHOLE, "mode", "samples_per_problem", "price", "prices"}
    keys = [key for key in shot if key not in apart and uses(shot["mode"], key)]
    return [
        name
        for name, spec in variants.items()
        if not mode_named(spec["mode"]).single
        and all(spec.get(key) == shot[key] for key in keys if uses(spec["mode"], key))
    ]


class Wanted(NamedTuple):
    """The shots that the agent's spend buys.

    Attributes:
        shots: number of shots by problem.
        ratio: shots that cost as much as an agent's sample; None while unknown.
        unit: the unit compared.
    """

    shots: Mapping[str, int]
    ratio: float | None = None
    unit: Unit = "cost"

    @property
    def most(self) -> int:
        """Largest number of shots of a problem."""
        return max(self.shots.values(), default=1)

    def at_once(self, done: Collection[SampleResult]) -> "Wanted":
        """Return those to take before the price of a shot is computed again.

        These are at most as many new ones as there are shots, or one a problem: the first few tell
        little of the price, and too many would be bought.

        Args:
            done: results of the single-shot variant.
        """
        has = Counter(result.problem_id for result in done)
        shots = {problem: min(has[problem], wanted) for problem, wanted in self.shots.items()}
        left = max(len(done), len(shots))
        for problem, wanted in self.shots.items():  # so that an interrupt leaves whole problems
            more = min(left, wanted - shots[problem])
            shots[problem] += more
            left -= more
        return self._replace(shots=shots)


def shots_wanted(
    shots: Collection[SampleResult],
    agents: Sequence[Collection[SampleResult]],
    asked: Sequence[str],
    most: int = MOST_SHOTS,
) -> Wanted:
    """Return how many shots each problem is to have.

    All problems together get shots that cost what the agent spends on them, and less than one shot
    more; of several agents the dearest counts. A problem's next shots are taken to cost what those
    before cost on average. A problem with fewer shots gets the next one, so that each has the whole
    number below the ratio or one more; more only if it got them before the ratio fell. The others
    then get fewer, if all together would be worth one shot a problem more than the agent; later,
    when there are more problems, they get the rest.

    Args:
        shots: results of the single-shot variant.
        agents: results of each variant whose spend is followed.
        asked: ids of the problems to run, in order.
        most: most shots of a problem.
    """
    done = Counter(result.problem_id for result in shots)
    wanted: dict[str, int] = {problem: max(1, done[problem]) for problem in asked}
    followed = set(asked)
    for own in agents:
        followed &= {result.problem_id for result in own if result.graded}
    shot = mean_spend(shots)
    spends = [mean_spend([r for r in own if r.problem_id in followed]) for own in agents]
    if shot is None or not agents or not followed:
        return Wanted(wanted)
    _, unit = max(affordable(spend, shot) for spend in spends if spend is not None)
    known = mean_by_problem((r.problem_id, _amount(r, unit)) for r in shots if r.graded)
    prices = {problem: known.get(problem, _amount(shot, unit)) for problem in followed}
    price = math.fsum(prices.values()) / len(prices) or 1.0
    agent = max(_amount(spend, unit) for spend in spends if spend is not None)
    bought = [_amount(each, unit) for each in shots if each.graded and each.problem_id in followed]
    room = agent * len(followed) - math.fsum(bought)
    ratio = agent / price
    least = min(most, max(1, math.floor(ratio + _NEAR)))
    excess = price * (len(followed) + _NEAR)
    while least > 1 and _cost(least, wanted, done, prices) > room + excess:
        least -= 1
    wanted |= {problem: max(least, wanted[problem]) for problem in followed}
    room -= _cost(1, wanted, done, prices)
    order: list[str] = [p for p in asked if p in followed and wanted[p] < most]
    while room > _NEAR * excess and order:
        level = min(wanted[problem] for problem in order)
        for problem in order:
            if wanted[problem] == level and room > _NEAR * excess:
                wanted[problem] += 1
                room -= prices[problem]
        order = [problem for problem in order if wanted[problem] < most]
    return Wanted(wanted, ratio, unit)


def _cost(
    least: int, wanted: Mapping[str, int], done: Mapping[str, int], prices: Mapping[str, float]
) -> float:
    """Return what the shots still to take cost if each problem is to have at least so many."""
    return math.fsum(
        (max(least, wanted[problem]) - done[problem]) * price for problem, price in prices.items()
    )


def _amount(of: SampleResult | Spend, unit: Unit) -> float:
    """Return a spend in a unit; a shot without a call, as recorded ones, counts as one."""
    if unit == "cost":
        return of.cost or 0.0
    if unit == "tokens":
        tokens: Any = of.tokens if isinstance(of, Spend) else of.usage and of.usage.total_tokens
        return float(tokens or 0)
    return float(of.calls if isinstance(of, Spend) else of.model_calls) or 1.0
