"""What a tuning came to, in a sentence."""

from for_each import for_each

from harness.features.tune.outcome import CandidateOutcome, TestGain, TuneOutcome


def _outcome(
    gain: TestGain | None, best: int, candidates: tuple[CandidateOutcome, ...] = ()
) -> TuneOutcome:
    return TuneOutcome(
        path="mine",
        prompt="mine/prompt",
        ended="done" if gain else "budget",
        remark="",
        split={"train": 9, "selection": 8, "test": 20},
        evaluations=60,
        proposals=12,
        best=best,
        candidates=candidates,
        gain=gain,
        cost=1.5,
        tokens=9,
        reflection_tokens=3,
    )


def _candidate(number: int, train: float | None, selection: float | None) -> CandidateOutcome:
    return CandidateOutcome(
        number=number,
        parent=0 if number else None,
        template="",
        fault="",
        prompt="",
        train=train,
        parent_train=0.5 if number else None,
        selection=selection,
    )


@for_each(
    ("train", "selection", "who"),
    [
        (0.7, None, "No candidate that was asked them solves more of the 8"),
        (0.7, 0.2, "No candidate solves more of the 8"),
        (0.4, None, "No candidate solves more of the 8"),
    ],
)
def test_a_promising_candidate_that_was_not_asked_is_not_said_to_be_no_better(
    train: float, selection: float | None, who: str
) -> None:
    candidates = (_candidate(0, None, 0.3), _candidate(1, train, selection))
    assert _outcome(None, 0, candidates).sentence.startswith(who)


@for_each(("difference", "keeps"), [(-0.1, True), (0.0, False), (0.1, False)])
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
    outcome = _outcome(gain, 1)
    assert ("Keep the start" in outcome.sentence) is keeps
    assert "$1.50 spent." in outcome.sentence
