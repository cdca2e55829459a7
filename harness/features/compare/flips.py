"""Flips: problems that one of two runs did better on; and both runs by kind of problem."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.frozen import Frozen
from harness.grading.verdict import Score, Verdict
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.run.summary.groups import FEWEST, KINDS, rank
from harness.run.summary.loaded_run import Run
from harness.stats.paired import compare_counts
from harness.stats.pass_at_k import Counts, share
from harness.stats.rates import Rate


class FlipSample(Frozen):
    """A representative sample of a run on a problem.

    Attributes:
        solved, samples: number of the problem's samples that the run solved, and of all.
        command: command that prints the transcript; None if there is no transcript.
        score: points of that sample; None where its problem gives none.
    """

    label: str
    solved: int
    samples: int
    sample: str
    verdict: Verdict
    command: str | None
    score: Annotated[Score | None, Field(exclude_if=lambda score: score is None)] = None

    @property
    def way(self) -> str:
        """The verdict in words, with the points of a problem that gives some."""
        verdict = self.verdict.replace("_", " ")
        return verdict if self.score is None else f"{verdict}, {self.score}"


class Flip(Frozen):
    """A problem that one of two runs did better on.

    Attributes:
        better: the label of the better run.
        a, b: a sample of each run: a solved one of the better run and an unsolved one of the
            other, with the same index if possible.
    """

    problem: str
    title: str
    better: str
    a: FlipSample
    b: FlipSample
    # Only for terminal output; empty if unknown.
    difficulty: SkipJsonSchema[str] = Field(default="", exclude=True)


def flips_of(
    a: Run,
    b: Run,
    labels: tuple[str, str],
    counts: tuple[Mapping[str, Counts], Mapping[str, Counts]],
) -> Iterator[Flip]:
    """Yield problems with different solve rates, the greatest difference first.

    Args:
        a: the first run.
        b: the second run.
        labels: labels of the runs.
        counts: numbers of samples and of solved samples of each run, by problem both runs have.
    """
    gains = {p: share(counts[1][p]) - share(counts[0][p]) for p in counts[0]}
    flipped = sorted((p for p in gains if gains[p]), key=lambda p: (-abs(gains[p]), p))
    samples_a, samples_b = (_by_problem(run, set(flipped)) for run in (a, b))
    there = Transcripts(a.path)
    here = Transcripts(b.path)
    for problem in flipped:
        first, second = _shown_samples(
            samples_a[problem], samples_b[problem], a_better=gains[problem] < 0
        )
        yield Flip(
            problem=problem,
            title=first.title,
            better=labels[gains[problem] > 0],
            a=_shown(a, labels[0], first, counts[0][problem], there),
            b=_shown(b, labels[1], second, counts[1][problem], here),
            difficulty=first.difficulty or "",
        )


def _by_problem(run: Run, problems: set[str]) -> dict[str, list[SampleResult]]:
    results: dict[str, list[SampleResult]] = defaultdict(list)
    for result in sorted(run.results, key=lambda result: result.index):
        if result.graded and result.problem_id in problems:
            results[result.problem_id].append(result)
    return results


def _shown_samples(
    a: list[SampleResult], b: list[SampleResult], *, a_better: bool
) -> tuple[SampleResult, SampleResult]:
    """Return a solved sample of the better run and an unsolved one of the other."""
    ours = [result for result in a if result.solved == a_better]
    theirs = [result for result in b if result.solved != a_better]
    indices = {result.index: result for result in theirs}
    both = next((result for result in ours if result.index in indices), None)
    return (both, indices[both.index]) if both else (ours[0], theirs[0])


def _shown(
    run: Run, label: str, result: SampleResult, counts: Counts, transcripts: Transcripts
) -> FlipSample:
    command = None
    if transcripts.exists(file_name(result.problem_id, result.index)):
        command = f"harness transcript {shlex.quote(str(run.path))} {shlex.quote(result.sample)}"
    return FlipSample(
        label=label,
        solved=counts[1],
        samples=counts[0],
        sample=result.sample,
        verdict=result.verdict,
        score=result.score,
        command=command,
    )


class Group(Frozen):
    """The problems of one group, such as a difficulty, that both runs have.

    Attributes:
        flips: number of these problems that one of the runs did better on.
        difference: pass@1 of the second run minus that of the first. Not tested, because among
            many groups some differ by chance.
        low, high: interval of the difference; None for fewer than `FEWEST` problems.
    """

    name: str
    problems: int
    flips: int
    rate_a: Rate | None
    rate_b: Rate | None
    difference: float
    low: float | None
    high: float | None


def grouped(
    results: Iterable[SampleResult], a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> dict[str, tuple[Group, ...]]:
    """Group problems by each kind, without kinds that are always `unknown`.

    Args:
        results: samples of the problems; their difficulty, tags and so on are read from these.
        a: numbers of samples and of solved samples of the first run, by problem.
        b: the same for the second run.
    """
    problems = {r.problem_id: r for r in results if r.problem_id in a and r.problem_id in b}
    groups: dict[str, tuple[Group, ...]] = {}
    for kind, names_of in KINDS.items():
        members: dict[str, list[str]] = defaultdict(list)
        for problem, result in problems.items():
            for name in names_of(result):
                members[name].append(problem)
        if set(members) - {"unknown"}:
            ranked = sorted(members, key=lambda name: (rank(name), name))
            groups[kind] = tuple(_group(name, members[name], a, b) for name in ranked)
    return groups


def _group(
    name: str, problems: list[str], a: Mapping[str, Counts], b: Mapping[str, Counts]
) -> Group:
    paired = compare_counts({p: a[p] for p in problems}, {p: b[p] for p in problems})
    enough = paired.problems >= FEWEST
    return Group(
        name=name,
        problems=paired.problems,
        flips=len(paired.better_a) + len(paired.better_b),
        rate_a=paired.rate_a,
        rate_b=paired.rate_b,
        difference=paired.difference,
        low=paired.low if enough else None,
        high=paired.high if enough else None,
    )
