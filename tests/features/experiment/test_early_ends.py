"""Experiments that a budget, an interrupt or the stopping rule ends: the answer is there."""

import json
from itertools import takewhile
from pathlib import Path

import pytest
from program import run
from scripted_experiments import ScriptedModel, carry_out, write_problems

PROBLEMS = 8


@pytest.fixture
def few_problems(tmp_path: Path) -> Path:
    """A folder with problems."""
    write_problems(tmp_path, PROBLEMS)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seed", "interrupt_at", "flags", "code"),
    [
        (1, None, (), 0),
        (2, None, ("--max-cost", "0.17"), 0),
        (3, None, ("--max-cost", "0.38"), 0),
        (4, 23, ("--max-cost", "9"), 130),
        (5, 48, (), 130),
        (6, None, ("--stop-when-decided", "--level", "0.6"), 0),
    ],
)
async def test_an_early_end_leaves_an_answer_and_equal_spend(
    seed: int, interrupt_at: int | None, flags: tuple[str, ...], code: int, few_problems: Path
) -> None:
    ended = await carry_out(few_problems, "e", ScriptedModel(seed, interrupt_at), flags)
    assert ended.code == code, ended.screen
    assert ended.sentence.startswith("For $"), ended
    assert "what the agent spends, the agent solves" in ended.sentence
    assert abs(ended.apart) <= 1
    assert 0 < ended.compared <= ended.whole
    answer, _, _ = ended.sentence.partition(" This is on the ")  # the screen's first line has these
    assert answer in " ".join(ended.screen.split())


@pytest.mark.thorough
@pytest.mark.parametrize("flags", [(), ("--max-cost", "9")])
async def test_a_problem_is_asked_in_both_arms_before_the_next(
    flags: tuple[str, ...], few_problems: Path
) -> None:
    model = ScriptedModel(7)
    await carry_out(few_problems, "e", model, ("--concurrency", "1", *flags))
    _, first = model.asked[0]
    kinds = [kind for kind, _ in takewhile(lambda request: request[1] == first, model.asked)]
    assert kinds[:2] == ["shot", "agent"]
    assert kinds[1:] == sorted(kinds[1:]), "the agent, then as many shots as it was worth"
    assert ("agent", first) not in model.asked[len(kinds) :]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("interrupt_at", "has"),
    [
        (1, "No answer yet: 0 problems are graded in both variants (graded samples: "),
        (24, "what the agent spends, the agent solves"),
    ],
)
async def test_an_interrupt_in_the_first_problem_says_what_there_is(
    interrupt_at: int, has: str, few_problems: Path
) -> None:
    model = ScriptedModel(8, interrupt_at)
    ended = await carry_out(few_problems, "e", model)
    assert ended.code == 130
    assert has in " ".join(ended.screen.split())
    assert "it is the baseline" not in ended.screen, "nothing is compared with it"
    shown = json.loads((await run(few_problems, "experiment", "show", "e", "--json"))[1])
    assert {variant["name"] for variant in shown["variants"]} == {"agentic", "single_shot"}
    assert bool(shown["answers"]) is bool(ended.whole)
