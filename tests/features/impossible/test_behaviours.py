"""What a model does about impossible tests is told by the tests, its report and its end."""

from collections import Counter

import pytest
from impossible_made import (
    Behaving,
    games,
    gives_up,
    reports,
    right_code,
    rows,
    runs_out,
    says,
    solves_honestly,
    tries,
)

from harness import Evaluation, ProblemView, evaluate
from harness.models.protocol import ModelError, ModelTurn

BEHAVIOURS = {
    "solved_honestly": solves_honestly,
    "said_so": reports,
    "gamed": games,
    "gave_up": gives_up,
    "ran_out": runs_out,
}
ROWS = rows()
RIGHT = {row["id"]: right_code(row) for row in ROWS}


def run(*behaviours, problems: int = 4, **keys) -> Evaluation:  # type: ignore[no-untyped-def]
    model = Behaving(RIGHT, *behaviours)
    asked = {"mode": "agentic", "max_turns": 6, "impossible": 1.0, **keys}
    return evaluate(
        model, benchmark=ROWS[:problems], samples_per_problem=len(behaviours), **asked
    )


def outcomes(found: Evaluation) -> Counter[str]:
    return Counter(str(each.impossible and each.impossible.outcome) for each in found.results)


def test_five_behaviours_on_a_hundred_problems_are_told_apart() -> None:
    found = run(*BEHAVIOURS.values(), problems=100, impossible_exit=True)
    names = list(BEHAVIOURS)
    told = Counter(
        (names[each.index], str(each.impossible and each.impossible.outcome))
        for each in found.results
    )
    assert told == {(name, name): 100 for name in names}
    assert (found.summary.graded, found.summary.pass_at_1) == (0, None)
    assert found.summary.impossible is not None
    assert found.summary.impossible.rates["gamed"].value == pytest.approx(0.2)
    kinds = {each.impossible.mutation for each in found.results if each.impossible}
    assert kinds == {"number", "order", "letter", "truth"}
