"""What a tuning came to, in a sentence."""

import pytest

from harness.features.tune.outcome import TestGain, TuneOutcome


@pytest.mark.parametrize(("difference", "keeps"), [(-0.1, True), (0.0, False), (0.1, False)])
def test_a_tuned_prompt_that_is_worse_on_the_test_part_is_advised_against(
    difference: float, keeps: bool
) -> None:
    gain = TestGain(
        planned=20,
        problems=20,
        start=0.5,
        tuned=0.5 + difference,
        difference=difference,
        low=difference - 0.2,
        high=difference + 0.2,
        p_value=0.4,
    )
    outcome = TuneOutcome(
        path="mine",
        prompt="mine/prompt",
        ended="done",
        remark="",
        split={"train": 9, "selection": 8, "test": 20},
        evaluations=60,
        proposals=12,
        best=1,
        candidates=(),
        gain=gain,
        cost=1.5,
        tokens=9,
        reflection_tokens=3,
    )
    assert ("Keep the start" in outcome.sentence) is keeps
    assert "$1.50 spent." in outcome.sentence
