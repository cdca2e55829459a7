"""The candidates of a search with their scores and parents, kept in `candidates.json`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from harness.features.experiment.runs_folder import read_contents, write_contents
from harness.frozen import Frozen

FILE = "candidates.json"
SCHEMA = 1


class CandidateRecord(Frozen):
    """A candidate.

    Attributes:
        number: its number, in order of proposal; the start is 0.
        name: name of its prompt folder and of its run.
        parent: number of the candidate that it was made from; None for the start.
        template: path of the template that it changes; empty for the start.
        fault: why it was not asked; empty if it was.
        batch: problems that it was asked first, with its parent.
        scores: share of solved samples by problem.
    """

    number: int
    name: str
    parent: int | None = None
    template: str = ""
    fault: str = ""
    batch: tuple[str, ...] = ()
    scores: dict[str, float] = Field(default_factory=dict)

    def mean(self, problems: Iterable[str]) -> float | None:
        """Return its mean score on problems; None if it was not asked all of them."""
        scores = [self.scores.get(problem) for problem in problems]
        known = [score for score in scores if score is not None]
        return sum(known) / len(known) if known and len(known) == len(scores) else None


class SearchRecord(Frozen):
    """All candidates of a search, the start first.

    Attributes:
        proposals: number of answers of the reflection model.
        evaluations: number of samples that candidates were asked in the search.
    """

    schema_version: int = Field(default=SCHEMA, ge=SCHEMA, le=SCHEMA)
    proposals: int = 0
    evaluations: int = 0
    candidates: tuple[CandidateRecord, ...] = ()

    def named(self, name: str) -> CandidateRecord | None:
        """Return the candidate of a name; None if there is none."""
        return next((each for each in self.candidates if each.name == name), None)

    def best(self, selection: Sequence[str]) -> CandidateRecord | None:
        """Return the candidate that solves most selection problems, the earliest of equals."""
        scores: Mapping[int, float] = {
            each.number: score
            for each in self.candidates
            if (score := each.mean(selection)) is not None
        }
        if not scores:
            return None
        return self.candidates[max(scores, key=lambda number: (scores[number], -number))]

    def with_candidate(self, candidate: CandidateRecord) -> "SearchRecord":
        """Return the record with a candidate added, or changed if its number is there."""
        known = [each for each in self.candidates if each.number != candidate.number]
        ordered = sorted([*known, candidate], key=lambda each: each.number)
        return self.model_copy(update={"candidates": tuple(ordered)})

    def write(self, path: Path) -> None:
        """Write the record into a tuning's directory. Raises StorageError."""
        write_contents(path / FILE, self.model_dump(mode="json"))


def read_record(path: Path) -> SearchRecord:
    """Read the record of a tuning; empty if its search has not begun.

    Raises:
        RunDirectoryError: the file cannot be read.
    """
    file = path / FILE
    return read_contents(file, SearchRecord, "a search") if file.exists() else SearchRecord()
