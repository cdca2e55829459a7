"""What a run may ask for and cost, roughly, before anything is asked.

A token is taken to be four characters. Each answer is taken to have between `SHORT_ANSWER` and
`LONG_ANSWER` tokens, the latter at most what `--max-tokens` allows; reasoning may well be longer.
In the agent loop every request repeats all that was said before, and each turn adds its answer and
a report of tests. Caches of providers, which make this cheaper, are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic_core import to_json

from harness.agent.external import EXTERNAL
from harness.models.price import Price, cost
from harness.models.protocol import Frozen, Usage
from harness.problem import Problem
from harness.runs.plan import Plan

SCHEMA = 1
CHARACTERS = 4  # of a token
SHORT_ANSWER = 150  # tokens
LONG_ANSWER = 2_000
REPORT = 250  # tokens of what a turn's tools return


@dataclass(frozen=True, slots=True)
class Estimate:
    """The least and the most that is expected.

    Attributes:
        requests: to the provider.
        least: tokens if every sample is done at once, with short answers.
        most: tokens if every sample takes all its turns, with long ones.
        cost: US dollars of both; None where the price is unknown.
    """

    requests: tuple[int, int]
    least: Usage
    most: Usage
    cost: tuple[float, float] | None


class Foretold(Frozen):
    """An estimate as it is printed for other programs.

    Attributes:
        prices_as_of: the date of the list that its prices are from.
    """

    schema_version: int = SCHEMA
    requests: tuple[int, int]
    least: Usage
    most: Usage
    cost: tuple[float, float] | None
    prices_as_of: str | None


class Requests(NamedTuple):
    """The least and the most requests of a sample; whether each repeats what was said before."""

    least: int
    most: int
    growing: bool


def requests_of(plan: Plan) -> Requests:
    """What the strategy of a run asks for each sample; of a user's own nobody knows."""
    turns = plan.limits.turns
    match plan.spec.mode:
        case "single_shot":
            return Requests(1, 1, growing=False)
        case mode if mode in EXTERNAL:
            return Requests(0, 0, growing=False)
        case "best_of_k_public":
            return Requests(1, turns, growing=False)
        case "self_repair":
            first = 0 if plan.spec.repair_from else 1
            return Requests(first, first + plan.ways.repair_rounds, growing=False)
        case _:
            return Requests(1, turns, growing=True)


def estimate(plan: Plan, samples: Sequence[tuple[Problem, int]]) -> Estimate:
    """What the given samples of a run may take."""
    requests = requests_of(plan)
    tools = plan.toolbox.specs if requests.growing else ()
    offered = sum(len(to_json(tool)) for tool in tools)
    longest = min(LONG_ANSWER, plan.spec.max_tokens or LONG_ANSWER)
    shortest = min(SHORT_ANSWER, longest)
    least = most = Usage()
    for problem, _ in samples:
        opening = -(-(_opening(plan, problem) + offered) // CHARACTERS)
        least += Usage(
            input_tokens=requests.least * opening, output_tokens=requests.least * shortest
        )
        most += _conversation(opening, requests, longest)
    return Estimate(
        requests=(len(samples) * requests.least, len(samples) * requests.most),
        least=least,
        most=most,
        cost=_range(least, most, plan.price),
    )


def _opening(plan: Plan, problem: Problem) -> int:
    """Characters of the first request's messages."""
    cpu_s = plan.judging.limits(problem).cpu_s
    messages = plan.prompt.render(problem.view(), cpu_s, plan.limits.turns)
    return sum(len(to_json(message)) for message in messages)


def _conversation(opening: int, requests: Requests, answer: int) -> Usage:
    """Tokens of a sample in which every request is followed by an answer and a report."""
    turns = requests.most
    before = turns * (turns - 1) // 2 if requests.growing else max(0, turns - 1)
    repeated = (answer + REPORT) * before
    return Usage(input_tokens=turns * opening + repeated, output_tokens=turns * answer)


def _range(least: Usage, most: Usage, price: Price | None) -> tuple[float, float] | None:
    low, high = cost(least, price), cost(most, price)
    return None if low is None or high is None else (low, high)
