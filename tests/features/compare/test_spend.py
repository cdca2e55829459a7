"""Two runs at equal spend, from their files."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from results_made import made_result

from harness.features.compare.spend import spend_comparison
from harness.features.compare.spend_types import SpendComparison
from harness.models.protocol import Usage
from harness.run.store.results import SampleResult, Step
from harness.run.summary.loaded_run import Run, read_run

Write = Callable[..., Path]


def step(turn: int, *, solved: bool | None, public: int | None, cost: float = 0.01) -> Step:
    """A revision; each turn costs a cent, or as said, and takes 100 tokens."""
    return Step(
        turn=turn,
        tokens=100 * turn,
        cost=cost * turn,
        seconds=float(turn),
        public_passed=public,
        solved=solved,
    )


def agent(problem: str, solved_at: int | None, turns: int = 4, **changes: Any) -> SampleResult:
    """An attempt of some turns, each of which writes; solved from one of them on, if at all."""
    steps = tuple(
        step(turn, solved=turn == solved_at, public=int(turn == solved_at))
        for turn in range(1, (solved_at or turns) + 1)
    )
    return made_result(
        problem,
        solved=solved_at is not None,
        steps=steps,
        model_calls=len(steps),
        usage=Usage(input_tokens=100 * len(steps)),
        cost=0.01 * len(steps),
        **changes,
    )


def shot(problem: str, index: int, solved: bool, **changes: Any) -> SampleResult:
    """A shot for a cent, that passes the public tests if it is solved."""
    made = made_result(problem, solved=solved, index=index)
    plain = {
        "code": "x",
        "cost": 0.01,
        "usage": Usage(input_tokens=100),
        "public_passed": int(solved),
    }
    return made.model_copy(update=plain | changes)


@pytest.fixture
def pair(write_run: Write) -> Callable[..., tuple[Run, Run]]:
    """A run of shots and one of an agent."""

    def write(shots: Iterable[SampleResult], attempts: Iterable[SampleResult]) -> tuple[Run, Run]:
        own = list(shots)
        most = max(result.index for result in own) + 1
        a = write_run("shots", own, mode="single_shot", samples_per_problem=most)
        b = write_run("agent", attempts, mode="agentic")
        return read_run(a), read_run(b)

    return write


Pair = Callable[..., tuple[Run, Run]]
NAMES = [f"p{number:02}" for number in range(20)]


def usual(pair: Pair, samples: int = 4) -> SpendComparison:
    """A quarter is solved by each shot; the agent solves half at once, a quarter on turn 3."""
    shots = [shot(p, i, solved=n % 4 == 0) for n, p in enumerate(NAMES) for i in range(samples)]
    solved_at = {0: 1, 1: 1, 2: 3, 3: None}
    attempts = [agent(p, solved_at[n % 4]) for n, p in enumerate(NAMES)]
    return spend_comparison(*pair(shots, attempts))


def test_an_agent_is_compared_at_its_mean_spend_and_at_that_of_a_shot(pair: Pair) -> None:
    found = usual(pair)
    assert found.unit == "dollars"
    assert found.problems == 20
    assert (found.a.way, found.b.way) == ("chosen", "cut_off")
    assert found.a.mean == pytest.approx(0.01)
    assert found.b.mean == pytest.approx((0.01 + 0.01 + 0.03 + 0.04) / 4)
    one, all_of_it = found.differences
    assert (one.mean_of, all_of_it.mean_of) == ("A", "B")
    assert one.at == pytest.approx(0.01)
    assert one.a.solved == pytest.approx(0.25)
    assert one.b.solved == pytest.approx(0.5)  # every attempt cut off after its first turn
    assert all_of_it.b.solved == pytest.approx(0.75)
    assert all_of_it.a.amount == pytest.approx(2.25)
    assert all_of_it.difference == pytest.approx(0.5)
    assert all_of_it.low is not None
    assert all_of_it.high is not None
    assert 0 < all_of_it.low < 0.5 < all_of_it.high < 1


def test_the_sentence_says_it(pair: Pair) -> None:
    said = usual(pair).sentence
    assert said.startswith(
        "At $0.022 a problem, what the agent spends on average, the agent solves 75 % and "
        "2.2 shots chosen by public tests solve 25 % (+50 points, +25 to +75)."
    )
