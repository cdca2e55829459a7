"""Flips: problems that one of two runs did better on; and both runs by kind of problem."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.frozen import Frozen
from harness.grading.verdict import Score, Verdict
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name, transcript_command
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run
from harness.stats.pass_at_k import Counts, share


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
    samples_a, samples_b = map(graded_by_problem, (a, b))
    transcripts_a, transcripts_b = (Transcripts(run.path) for run in (a, b))
    for problem in flipped:
        first, second = _shown_samples(
            samples_a[problem], samples_b[problem], a_better=gains[problem] < 0
        )
        yield Flip(
            problem=problem,
            title=first.title,
            better=labels[gains[problem] > 0],
            a=_shown(a, labels[0], first, counts[0][problem], transcripts_a),
            b=_shown(b, labels[1], second, counts[1][problem], transcripts_b),
            difficulty=first.difficulty or "",
        )


def graded_by_problem(run: Run) -> dict[str, list[SampleResult]]:
    """Return the graded samples of each problem, in the order of their numbers."""
    results: dict[str, list[SampleResult]] = defaultdict(list)
    ids, numbers = run.columns["problem_id"], run.columns["index"]
    for place in sorted(run.columns.graded, key=numbers.__getitem__):
        results[ids[place]].append(run.results[place])
    return results


def _shown_samples(
    a: list[SampleResult], b: list[SampleResult], *, a_better: bool
) -> tuple[SampleResult, SampleResult]:
    """Return a solved sample of the better run and an unsolved one of the other."""
    ours = [result for result in a if result.solved == a_better]
    theirs = {result.index: result for result in b if result.solved != a_better}
    both = next((result for result in ours if result.index in theirs), None)
    return (both, theirs[both.index]) if both else (ours[0], next(iter(theirs.values())))


def _shown(
    run: Run, label: str, result: SampleResult, counts: Counts, transcripts: Transcripts
) -> FlipSample:
    there = transcripts.exists(file_name(result.problem_id, result.index))
    return FlipSample(
        label=label,
        solved=counts[1],
        samples=counts[0],
        sample=result.sample,
        verdict=result.verdict,
        score=result.score,
        command=transcript_command(run.path, result.sample) if there else None,
    )
