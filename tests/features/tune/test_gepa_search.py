"""The search for a prompt set: what it asks, and what it finds in how many evaluations."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from results_made import made_result
from tuning_in_memory import PROBLEMS, Unchecked, searched
from tuning_made import HELPFUL, USELESS, TuningModels, by_chance, write_problems

from harness.features.compare.comparison import LEVEL
from harness.features.tune.candidate_set import Candidate
from harness.features.tune.gepa_search import MOST_IDLE, GepaSearch, Results
from harness.features.tune.reflection_prompt import ShownSample
from harness.features.tune.split import ProblemSplit
from harness.problem import ProblemView
from harness.run.reporter import print_nothing
from harness.run.store.results import SampleResult
from harness.sources.benchmarks import load

VAIN = "Hurry."


def problems_of(folder: Path, number: int) -> dict[str, ProblemView]:
    """Write problems to a folder; return what a model sees of each."""
    write_problems(folder, number)
    return {each.id: each.view() for each in load(f"jsonl:{folder / 'p.jsonl'}").problems}


def template_in(messages: Sequence[object]) -> str:
    """Return the template that the reflection model is shown."""
    text = str(messages[1].content)  # type: ignore[attr-defined]
    return text.split("<template>\n", 1)[1].split("\n</template>", 1)[0]


def test_a_proposal_that_cannot_solve_more_is_not_asked_what_its_parent_solves(
    tmp_path: Path,
) -> None:
    views = problems_of(tmp_path, 6)
    ids = [*views]
    split = ProblemSplit(train=tuple(ids[:3]), selection=(ids[3], ids[4]), test=(ids[5],))
    always, helped = {ids[0], ids[3]}, {ids[1], ids[4]}
    candidates = Unchecked.of("default", "single_shot", tmp_path / "c", [*views.values()])
    asked: list[tuple[str, set[str]]] = []
    phrases = iter([VAIN, HELPFUL])

    def ask(candidate: Candidate, wanted: Sequence[str]) -> Results:
        text = "\n".join(candidate.values())
        phrase = next((each for each in (HELPFUL, VAIN) if each in text), "")
        asked.append((phrase, set(wanted)))
        solved = always | helped if phrase == HELPFUL else always
        return {each: [made_result(each, solved=each in solved)] for each in wanted}

    def shown(_: Candidate, result: SampleResult) -> ShownSample:
        return ShownSample.of(views[result.problem_id], result, ())

    def reflect(messages: Sequence[object]) -> str:
        return f"<template>\n{template_in(messages)}\n{next(phrases)}\n</template>"

    search = GepaSearch(
        *(candidates, split, ask, shown, reflect, tmp_path),
        samples=1,
        most=12,
        tell=print_nothing,
        seed=0,
    )
    candidates.folder_of(candidates.start)
    with pytest.raises(StopIteration):  # a third proposal
        search.run()
    assert [each for each in asked if each[0] == VAIN] == [(VAIN, set(ids[1:3]))]
    of_helpful = [wanted for phrase, wanted in asked if phrase == HELPFUL]
    assert of_helpful[:3] == [set(ids[1:3]), {ids[0]}, set(split.selection)]
    start, vain, helpful = search.record.candidates
    assert vain.scores == dict.fromkeys(vain.batch, 0.0)
    assert set(vain.batch) == set(ids[1:3])
    assert set(helpful.batch) == set(split.train)
    assert search.record.best(split.selection) == helpful
    assert search.record.evaluations == 2 + 3 + 2 + 3 + 2
    assert start.mean(split.train) == pytest.approx(1 / 3)


def test_a_model_that_proposes_the_same_again_ends_the_search_and_is_shown_it(
    tmp_path: Path,
) -> None:
    """As at temperature 0: each answer is paid for, and each round asks other train problems."""
    views = problems_of(tmp_path, 60)
    ids = [*views]
    split = ProblemSplit(train=tuple(ids[:50]), selection=tuple(ids[50:55]), test=tuple(ids[55:]))
    candidates = Unchecked.of("default", "single_shot", tmp_path / "c", [*views.values()])
    requests: list[str] = []

    def ask(candidate: Candidate, wanted: Sequence[str]) -> Results:
        del candidate
        return {each: [made_result(each, solved=False)] for each in wanted}

    def shown(_: Candidate, result: SampleResult) -> ShownSample:
        return ShownSample.of(views[result.problem_id], result, ())

    def reflect(messages: Sequence[object]) -> str:
        requests.append(str(messages[1].content))  # type: ignore[attr-defined]
        return f"<template>\n{template_in(messages)}\n{VAIN}\n</template>"

    search = GepaSearch(
        *(candidates, split, ask, shown, reflect, tmp_path),
        samples=1,
        most=None,
        tell=print_nothing,
        seed=0,
    )
    candidates.folder_of(candidates.start)
    stopped = search.run()
    assert "brought nothing new" in str(stopped)
    templates = len(candidates.start)
    assert len(requests) == MOST_IDLE + templates
    assert not any("proposed before" in text for text in requests[:templates])
    assert all(f"+{VAIN}" in text for text in requests[templates:])


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder in memory where there is one, as each record is flushed to disk."""
    of_memory = "/dev/shm"
    place = of_memory if os.access(of_memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


@pytest.mark.thorough
def test_a_helpful_phrase_is_found_in_60_evaluations_with_90_of_100_seeds(in_memory: Path) -> None:
    write_problems(in_memory, PROBLEMS)
    successes = 0
    for seed in range(100):
        models = TuningModels(phrases=(HELPFUL,), others=3, seed=seed, fresh=True)
        one = searched(in_memory / str(seed), models, seed, in_memory / "p.jsonl", most=60)
        if HELPFUL in one.text and not one.is_start:
            successes += 1
            assert one.difference == pytest.approx(one.planted)
        assert one.evaluations <= 60
    assert successes >= 90


@pytest.mark.thorough
def test_no_gain_is_claimed_of_useless_phrases_with_95_of_100_seeds(in_memory: Path) -> None:
    write_problems(in_memory, PROBLEMS)
    claimed = 0
    for seed in range(100):
        models = TuningModels(by_chance, USELESS, 9, seed, fresh=True)
        one = searched(in_memory / str(seed), models, seed, in_memory / "p.jsonl", most=60)
        claimed += one.p_value is not None and one.p_value < LEVEL and (one.difference or 0) > 0
    assert claimed <= 5
