"""Estimate requests, tokens and cost of a run before it begins.

A token is taken to be four characters. Each answer is taken to have between `SHORT_ANSWER` and
`LONG_ANSWER` tokens, and those of `REASONING` before it; `--max-tokens` bounds both together. These
figures are assumptions. In the agent loop every request repeats all that was said before, and each
turn adds its answer and a report of tests. A model that is not given the statement at once has to
ask for it. The loop is never taken to need less than single shot. Caches of providers, which make
this cheaper, are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic_core import to_json

from harness.agent.strategies.external_names import EXTERNAL
from harness.agent.templates.prompt_set import PromptSet
from harness.models.prices import Price, cost
from harness.models.protocol import Frozen, Message, Usage
from harness.models.providers import OPENAI, OPENAI_CHAT, Protocol
from harness.problem import Problem
from harness.run.plan.plan import Plan

SCHEMA = 1
CHARACTERS = 4  # of a token
SHORT_ANSWER = 150  # tokens
LONG_ANSWER = 2_000
REPORT = 250  # tokens of what a turn's tools return

# Tokens of reasoning before one answer, the least and the most, by effort.
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
PERHAPS = (0, 12_000)  # of a model that may reason, or not


@dataclass(frozen=True, slots=True)
class Estimate:
    """The least and the most that is expected.

    Attributes:
        requests: to the provider.
        least: tokens if every sample is done as soon as it can be, with short answers.
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
    bound = plan.spec.max_tokens
    reasoning = reasoning_of(plan)
    shortest = _Answer.of(SHORT_ANSWER, reasoning[0], bound)
    longest = _Answer.of(LONG_ANSWER, reasoning[1], bound)
    least = most = Usage()
    fewest = 0
    for problem, _ in samples:
        messages = _opening(plan, problem, plan.prompt)
        opening = _tokens(messages, offered)
        told = 0 if _shows(messages, problem) else _tokens([problem.statement])
        floor = _floor(plan, problem)
        first = min(requests.most, 2) if requests.growing and told else requests.least
        fewest += first
        known = told if requests.growing else 0
        least += _conversation(opening, known, first, shortest, floor, growing=requests.growing)
        most += _conversation(
            opening, known, requests.most, longest, floor, growing=requests.growing
        )
    return Estimate(
        requests=(fewest, len(samples) * requests.most),
        least=least,
        most=most,
        cost=_range(least, most, plan.price),
    )


def reasoning_of(plan: Plan) -> tuple[int, int]:
    """Tokens of reasoning before one answer, the least and the most.

    Without an effort, OpenAI's models at the Responses API reason with medium effort, those at
    chat completions do not, nor do Anthropic's unless they are told to; others may.
    """
    route, effort = plan.route, plan.spec.reasoning_effort
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
    """Tokens of an answer, its reasoning among them."""

    tokens: int
    reasoning: int

    @classmethod
    def of(cls, text: int, reasoning: int, bound: int | None) -> "_Answer":
        whole = text + reasoning if bound is None else min(text + reasoning, bound)
        return cls(whole, min(reasoning, whole))


def _opening(plan: Plan, problem: Problem, prompt: PromptSet) -> Sequence[Message]:
    """The messages of the first request."""
    cpu_s = plan.judging.limits(problem).cpu_s
    return prompt.render(problem.view(), cpu_s, plan.limits.turns)


def _tokens(said: Sequence[object], more: int = 0) -> int:
    """Tokens of some JSON values, and of more characters."""
    return -(-(sum(len(to_json(each)) for each in said) + more) // CHARACTERS)


def _shows(messages: Sequence[Message], problem: Problem) -> bool:
    """Whether the statement stands in messages."""
    return any(problem.statement.strip() in getattr(message, "content", "") for message in messages)


def _floor(plan: Plan, problem: Problem) -> int:
    """Input tokens of a single shot, where the mode is one that may end as one; else 0."""
    prompt = plan.fallback_prompt
    return 0 if prompt is None else _tokens(_opening(plan, problem, prompt))


def _conversation(
    opening: int, told: int, turns: int, answer: _Answer, floor: int, *, growing: bool
) -> Usage:
    """Tokens of a sample in which every request is followed by an answer and a report.

    Args:
        opening: tokens of the first request.
        told: of the statement, where the model asks for it in its first answer.
        turns: requests.
        answer: each.
        floor: input tokens of a single shot.
        growing: whether every request repeats all that was said before.
    """
    before = turns * (turns - 1) // 2 if growing else max(0, turns - 1)
    sent = turns * opening + (answer.tokens + REPORT) * before + told * max(0, turns - 1)
    return Usage(
        input_tokens=max(sent, floor) if turns else 0,
        output_tokens=turns * answer.tokens,
        reasoning_tokens=turns * answer.reasoning,
    )


def _range(least: Usage, most: Usage, price: Price | None) -> tuple[float, float] | None:
    low, high = cost(least, price), cost(most, price)
    return None if low is None or high is None else (low, high)
