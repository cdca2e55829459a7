"""Estimate of a run's requests, tokens and cost before it starts.

These figures are assumptions. A token is four characters. Each answer has between `SHORT_ANSWER`
and `LONG_ANSWER` tokens, after reasoning tokens as in `REASONING`; `--max-tokens` limits their
sum. A typical answer has `ANSWER` tokens, after the geometric mean of both ends of reasoning; a
typical sample takes `MORE_TURNS` requests more than the fewest in the agent loop, and one more in
other modes of several requests. In a conversation that grows every request repeats all earlier
messages, and each turn adds its answer and a test report; in fresh ones each shows the last answer
and its report. Providers' caches, which lower the price, are ignored.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pydantic_core import to_json

from harness.frozen import Frozen
from harness.languages.starters import view_in
from harness.models.prices.price import Price, cost
from harness.models.protocol import Message, Usage
from harness.models.providers import OPENAI, OPENAI_CHAT, Protocol
from harness.problem import Problem
from harness.run.plan.plan import Plan
from harness.run.settings.origins import Origin

SCHEMA = 1
CHARACTERS = 4  # per token
SHORT_ANSWER = 75  # tokens
ANSWER = 150  # the demo's recordings have 79 to 109 on average, HumanEval 168 (docs/results.md)
LONG_ANSWER = 2_000
MORE_TURNS = 2  # in the agent loop: for one correction and its test
REPORT = 250  # tokens of a turn's tool results

# Least and most tokens of reasoning before one answer, by effort.
REASONING = {
    "none": (0, 0),
    "minimal": (0, 500),
    "low": (200, 4_000),
    "medium": (500, 12_000),
    "high": (1_500, 30_000),
    "xhigh": (3_000, 60_000),
    "max": (3_000, 60_000),
}
UNKNOWN_EFFORT = (0, 30_000)
PERHAPS = (0, 12_000)  # of a model that may or may not reason


class Estimate(NamedTuple):
    """The least and the most that is expected, and what is typical.

    Attributes:
        requests: requests to the provider.
        least: tokens if every sample ends as soon as possible, with short answers.
        most: tokens if every sample takes all its turns, with long answers.
        cost: US dollars for `least` and `most`; None if the price is unknown.
        typical: tokens of typical answers and turns, between both ends.
        typical_cost: US dollars for `typical`; None if the price is unknown.
    """

    requests: tuple[int, int]
    least: Usage
    most: Usage
    cost: tuple[float, float] | None
    typical: Usage
    typical_cost: float | None


class Foretold(Frozen):
    """An estimate in the JSON output.

    Attributes:
        prices_as_of: the date of the price list.
        settings: the settings that are no defaults, and those that were passed over.
    """

    schema_version: int = SCHEMA
    requests: tuple[int, int]
    least: Usage
    most: Usage
    cost: tuple[float, float] | None
    typical: Usage
    typical_cost: float | None
    prices_as_of: str | None
    settings: Mapping[str, Origin]


class Requests(NamedTuple):
    """Least and most requests of a sample; whether each repeats earlier messages."""

    least: int
    most: int
    growing: bool


def requests_of(plan: Plan) -> Requests:
    """Return the requests of a sample; a guess for a mode that does not say it."""
    requests = plan.spec.known_mode.requests
    if requests is None:
        return Requests(1, plan.limits.turns, growing=plan.grows)
    return Requests(*requests(plan.options), growing=False)


def estimate(plan: Plan, samples: Sequence[tuple[Problem, int]]) -> Estimate:
    """Estimate the requests, tokens and cost of the given samples."""
    requests = requests_of(plan)
    tools = plan.toolbox.specs if plan.openings[0].native else ()
    offered = sum(len(to_json(tool)) for tool in tools)
    bound = plan.spec.max_tokens
    reasoning = reasoning_of(plan)
    shortest = _Answer.of(SHORT_ANSWER, reasoning[0], bound)
    middle = _Answer.of(ANSWER, round(math.sqrt(reasoning[0] * reasoning[1])), bound)
    longest = _Answer.of(LONG_ANSWER, reasoning[1], bound)
    least = typical = most = Usage()
    fewest = 0
    for problem, _ in samples:
        opening = _tokens(_opening(plan, problem), offered)
        fewest += requests.least
        of = partial(_conversation, opening, growing=requests.growing)
        more = MORE_TURNS if requests.growing else 1
        least += of(turns=requests.least, answer=shortest)
        typical += of(turns=min(requests.most, requests.least + more), answer=middle)
        most += of(turns=requests.most, answer=longest)
    return Estimate(
        requests=(fewest, len(samples) * requests.most),
        least=least,
        most=most,
        cost=_range(least, most, plan.price),
        typical=typical,
        typical_cost=cost(typical, plan.price),
    )


def reasoning_of(plan: Plan) -> tuple[int, int]:
    """Return the least and the most tokens of reasoning before one answer.

    Without an effort setting, OpenAI's models reason with medium effort in the Responses API and
    not at all in chat completions; Anthropic's reason only if told to; others may or may not.
    """
    route, effort = plan.target.route, plan.spec.reasoning_effort
    if route is None:
        return 0, 0
    if effort is not None:
        return REASONING.get(effort, UNKNOWN_EFFORT)
    if route.protocol is Protocol.MESSAGES:
        return PERHAPS if "thinking" in (plan.spec.extra_body or {}) else (0, 0)
    if OPENAI_CHAT.serves(route.model):
        return 0, 0
    return REASONING["medium"] if OPENAI.serves(route.model) else PERHAPS


class _Answer(NamedTuple):
    """Tokens of an answer, including its reasoning."""

    tokens: int
    reasoning: int

    @classmethod
    def of(cls, text: int, reasoning: int, bound: int | None) -> "_Answer":
        whole = text + reasoning if bound is None else min(text + reasoning, bound)
        return cls(whole, min(reasoning, whole))


def _opening(plan: Plan, problem: Problem) -> Sequence[Message]:
    """Return the messages of the first request."""
    cpu_s = plan.judging.limits(problem).cpu_s
    view = view_in(problem, plan.judging.language)
    return plan.prompt.render(view, cpu_s, plan.limits.turns, plan.openings[0])


def _tokens(texts: Sequence[object], more: int = 0) -> int:
    """Return the tokens of some JSON values plus a number of characters."""
    return -(-(sum(len(to_json(each)) for each in texts) + more) // CHARACTERS)


def _conversation(opening: int, *, turns: int, answer: _Answer, growing: bool) -> Usage:
    """Return the tokens of a sample in which a report follows each answer.

    Args:
        opening: tokens of the first request.
        turns: number of requests.
        answer: tokens of each answer.
        growing: whether every request repeats all earlier messages.
    """
    before = turns * (turns - 1) // 2 if growing else max(0, turns - 1)
    return Usage(
        input_tokens=turns * opening + (answer.tokens + REPORT) * before,
        output_tokens=turns * answer.tokens,
        reasoning_tokens=turns * answer.reasoning,
    )


def _range(least: Usage, most: Usage, price: Price | None) -> tuple[float, float] | None:
    low, high = cost(least, price), cost(most, price)
    return None if low is None or high is None else (low, high)
