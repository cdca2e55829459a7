"""What a tuning came to, read from its directory."""

from pathlib import Path

from pydantic import computed_field

from harness.errors import RunDirectoryError
from harness.features.compare.comparison import LEVEL, compare_runs
from harness.features.tune.candidate_runs import spent_by_run
from harness.features.tune.reflection import spent_on_reflection
from harness.features.tune.search_record import CandidateRecord, read_record
from harness.features.tune.tune_file import Ended, TuneFile, read_tune
from harness.figures import count, dollars, p_words
from harness.frozen import Frozen
from harness.run.plan.budget import NOTHING
from harness.run.store.directory import MANIFEST
from harness.run.summary.loaded_run import price_in

SCHEMA = 1
RUNS, CANDIDATES, REFLECTION, PROMPT = "runs", "candidates", "reflection", "prompt"
"""Folders of a tuning's directory."""
START_TEST, TUNED_TEST = "test-start", "test-tuned"
"""Runs of the test part."""


class TestGain(Frozen):
    """The tuned prompt against the start, paired over problems that tuning never saw.

    Attributes:
        planned: problems of the test part.
        problems: those that both prompts were graded on.
        start, tuned: shares solved.
        difference: `tuned` less `start`; `low`, `high` and `p_value` are those of `compare`.
    """

    __test__ = False

    planned: int
    problems: int
    start: float
    tuned: float
    difference: float
    low: float
    high: float
    p_value: float

    @computed_field
    @property
    def is_gain(self) -> bool:
        """Whether the tuned prompt solves more, and chance alone is unlikely to do that."""
        return self.difference > 0 and self.p_value < LEVEL

    @property
    def sentence(self) -> str:
        """The gain in a sentence without its end."""
        points = round(100 * self.difference)
        solves = f"{count(abs(points), 'point')} {'more' if points > 0 else 'fewer'}"
        if not points:
            solves = "as many"
        some = (
            f"{self.problems}"
            if self.problems == self.planned
            else f"{self.problems} of the {self.planned}"
        )
        return (
            f"On {some} problems that tuning never saw, the tuned prompt solves {solves} "
            f"({100 * self.low:+.0f} to {100 * self.high:+.0f}, p {p_words(self.p_value)})"
        )


class CandidateOutcome(Frozen):
    """A candidate with its score.

    Attributes:
        number, parent, template, fault: see `CandidateRecord`.
        prompt: its prompt folder.
        train, parent_train: shares of its first problems that it and its parent solved; None if it
            was not asked.
        selection: share of the selection problems solved; None if it was not asked them.
    """

    number: int
    parent: int | None
    template: str
    fault: str
    prompt: str
    train: float | None
    parent_train: float | None
    selection: float | None

    @property
    def is_promising(self) -> bool:
        """Whether it solves more than its parent of its first problems."""
        return (self.train or 0.0) > (self.parent_train or 0.0)


class TuneOutcome(Frozen):
    """A tuning: its candidates, the best one and its gain.

    Attributes:
        path: the tuning's directory.
        prompt: the folder with the best prompt; None before the search.
        ended: how far it came, with a `remark`; see `Ended`.
        split: number of problems of each part.
        evaluations: samples that candidates were asked in the search.
        proposals: answers of the reflection model.
        best: number of the best candidate; None if none was asked the selection problems.
        candidates: all candidates, the start first.
        gain: the result of the test part; None if it was not asked.
        cost: US dollars spent on everything; None if a price is unknown.
        tokens: tokens of everything, and `reflection_tokens` those of reflection.
    """

    schema_version: int = SCHEMA
    path: str
    prompt: str | None
    ended: Ended
    remark: str
    split: dict[str, int]
    evaluations: int
    proposals: int
    best: int | None
    candidates: tuple[CandidateOutcome, ...]
    gain: TestGain | None
    cost: float | None
    tokens: int
    reflection_tokens: int

    @property
    def spent(self) -> str:
        """What was spent, in words."""
        if self.cost is None:
            return f"{self.tokens:,} tokens spent"
        return f"{dollars(self.cost)} spent"

    @computed_field
    @property
    def sentence(self) -> str:
        """What the tuning came to."""
        if self.gain is not None:
            worse = " Keep the start: it solves more." if self.gain.difference < 0 else ""
            return f"{self.gain.sentence}; {self.spent}.{worse}"
        return f"{self._untested}; {self.spent}."

    @property
    def _untested(self) -> str:
        if self.best is None:
            why = {"interrupted": "Interrupted", "pending": "Samples are pending"}
            begin = why.get(self.ended, "The budget does not pay for tuning")
            return f"{begin}: the start has not been asked all selection problems"
        number = self.split["selection"]
        start, best = self.candidates[0].selection, self.candidates[self.best].selection
        if not self.best:
            unasked = any(each.is_promising and each.selection is None for each in self.candidates)
            who = "No candidate that was asked them" if unasked else "No candidate"
            sentence = f"{who} solves more of the {number} selection problems than the start"
        else:
            sentence = (
                f"On the {number} selection problems the best prompt so far solves "
                f"{_share(best, number)}, the start {_share(start, number)}"
            )
        not_tested = {
            "interrupted": "interrupted before the test part was asked",
            "pending": "samples are pending, and the test part is not asked yet",
            "budget": "the test part could not be paid"
            if self.best
            else "the budget ended the search",
        }
        return "; ".join(filter(None, [sentence, not_tested.get(self.ended, "")]))


def outcome_of(path: Path) -> TuneOutcome:
    """Read what a tuning came to, or how far it is.

    Raises:
        RunDirectoryError: it is not a tuning, or a file of it cannot be read.
    """
    tune, record = read_tune(path), read_record(path)
    best = record.best(tune.split.selection)
    runs = sorted(each.parent for each in (path / RUNS).glob(f"*/{MANIFEST}"))
    reflection = spent_on_reflection(path / REFLECTION, tune.reflection_price)
    whole = sum(map(spent_by_run, runs), reflection)
    unknown = any(price_in(run) is None for run in runs)
    unknown = unknown or (tune.reflection_price is None and reflection != NOTHING)
    parts = {part: len(ids) for part, ids in tune.split}
    numbered = {each.number: each for each in record.candidates}
    return TuneOutcome(
        path=str(path),
        prompt=str(path / PROMPT) if (path / PROMPT).is_dir() else None,
        ended=tune.ended,
        remark=tune.remark,
        split=parts,
        evaluations=record.evaluations,
        proposals=record.proposals,
        best=None if best is None else best.number,
        candidates=tuple(
            _candidate(path, tune, each, numbered.get(each.parent or 0))
            for each in record.candidates
        ),
        gain=gain_of(path, parts["test"]) if tune.chosen else None,
        cost=None if unknown else whole.cost,
        tokens=int(whole.tokens),
        reflection_tokens=int(reflection.tokens),
    )


def gain_of(path: Path, planned: int) -> TestGain | None:
    """Compare both runs of the test part; None if they share no graded problem."""
    runs = [path / RUNS / START_TEST, path / RUNS / TUNED_TEST]
    if not all((run / MANIFEST).exists() for run in runs):
        return None
    try:
        paired = compare_runs(runs).versus[0].paired
    except RunDirectoryError:
        return None
    return TestGain(
        planned=planned,
        problems=paired.problems,
        start=paired.rate_a.value if paired.rate_a else 0.0,
        tuned=paired.rate_b.value if paired.rate_b else 0.0,
        difference=paired.difference,
        low=paired.low or 0.0,
        high=paired.high or 0.0,
        p_value=paired.p_value,
    )


def _candidate(
    path: Path, tune: TuneFile, record: CandidateRecord, parent: CandidateRecord | None
) -> CandidateOutcome:
    asked = bool(record.batch) and parent is not None
    return CandidateOutcome(
        number=record.number,
        parent=record.parent,
        template=record.template,
        fault=record.fault,
        prompt=str(path / CANDIDATES / record.name),
        train=record.mean(record.batch) if asked else None,
        parent_train=parent.mean(record.batch) if asked and parent else None,
        selection=record.mean(tune.split.selection),
    )


def _share(rate: float | None, number: int) -> str:
    return "unknown" if rate is None else f"{rate * number:.3g}"
