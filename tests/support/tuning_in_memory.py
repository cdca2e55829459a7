"""The search of `harness tune` with scores made here: no run, no server."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from results_made import made_result
from tuning_made import TuningModels

from harness.features.tune.candidate_set import Candidate, CandidateSet, template_fault
from harness.features.tune.gepa_search import GepaSearch, Results
from harness.features.tune.reflection_prompt import ShownSample
from harness.features.tune.split import Sizes, split_problems
from harness.run.reporter import print_nothing
from harness.run.store.results import SampleResult
from harness.sources.benchmarks import load
from harness.stats.paired import compare_counts

PROBLEMS = 34


class Found(NamedTuple):
    """What a tuning came to.

    Attributes:
        text: all templates of the best prompt.
        is_start: whether that is the start.
        evaluations, proposals: of the search.
        difference, p_value: of the test part; None if it was not asked.
        planted: share of the test problems that the phrase makes solvable.
    """

    text: str
    is_start: bool
    evaluations: int
    proposals: int
    difference: float | None
    p_value: float | None
    planted: float


class Unchecked(CandidateSet):
    """Candidates of which only the code of templates is checked, which is cheap."""

    def fault(self, candidate: Candidate) -> str:
        """Return what is wrong with the code of a template that was changed."""
        changed = ((self.start[each], text) for each, text in candidate.items())
        faults = (template_fault(old, new) for old, new in changed if new != old)
        return next(filter(None, faults), "")


def searched(folder: Path, models: TuningModels, seed: int, problems: Path, most: int) -> Found:
    """Search and test the gain with scores made here.

    Args:
        folder: a new folder, for the candidates and the record.
        models: the models.
        seed: seed of the split and the search.
        problems: file of the problems.
        most: most evaluations of the search.
    """
    folder.mkdir()
    loaded = load(f"jsonl:{problems}").problems
    split = split_problems(loaded, Sizes(), seed)
    views = {each.id: each.view() for each in loaded}
    candidates = Unchecked.of("default", "single_shot", folder / "candidates", [*views.values()])

    def solves(candidate: Candidate, problem: str) -> bool:
        return models.solves(number_of(problem), "\n".join(candidate.values()))

    def ask(candidate: Candidate, wanted: Sequence[str]) -> Results:
        return {each: [made_result(each, solved=solves(candidate, each))] for each in wanted}

    def shown(candidate: Candidate, result: SampleResult) -> ShownSample:
        del candidate
        return ShownSample.of(views[result.problem_id], result, ())

    def reflect(messages: Sequence[Any]) -> str:
        return models.proposal("\n".join(each.content for each in messages))

    search = GepaSearch(
        *(candidates, split, ask, shown, reflect, folder),
        samples=1,
        most=most,
        tell=print_nothing,
        seed=seed,
    )
    candidates.folder_of(candidates.start)
    search.run()
    best = search.record.best(split.selection)
    assert best is not None
    text = {
        place: (candidates.folder / best.name / place).read_text() for place in candidates.start
    }
    paired = None
    if best.number:
        before, after = (
            {each: (1, int(solves(of, each))) for each in split.test}
            for of in (candidates.start, text)
        )
        paired = compare_counts(before, after)
    return Found(
        "\n".join(text.values()),
        not best.number,
        search.record.evaluations,
        search.record.proposals,
        paired.difference if paired else None,
        paired.p_value if paired else None,
        planted_share(split.test),
    )


def number_of(problem: str) -> int:
    """Return a problem's number."""
    return int(problem.rpartition("e")[2])


def planted_share(problems: Sequence[str]) -> float:
    """Return the share of problems that only the helpful phrase makes solvable."""
    return sum(number_of(each) % 3 == 1 for each in problems) / len(problems)
