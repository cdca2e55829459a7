"""Grades of the revisions of an imported run, all judged here."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.agent.events import Graded
from harness.features.import_.agreement import Compared, compared
from harness.features.import_.imported_sample import (
    ImportedSample,
    result_from,
)
from harness.grading.jobs import Job, Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.models.prices.price import Price
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult

_Key = tuple[str, str]  # a problem's id, and a program


@dataclass(slots=True)
class Judgements:
    """Grades of a run's revisions; a sample is committed when its last grade arrives.

    Args:
        directory: directory of the run.
        samples: samples to judge.
        price: the model's price, if known.

    Attributes:
        failures: name, verdict and cause of samples with an infrastructure failure.
    """

    directory: RunDirectory
    samples: Sequence[ImportedSample]
    price: Price | None = None
    failures: list[tuple[str, Verdict, str]] = field(default_factory=list[tuple[str, Verdict, str]])
    _jobs: list[Job] = field(default_factory=list[Job])
    _waiting: dict[_Key, list[ImportedSample]] = field(
        default_factory=dict[_Key, list[ImportedSample]]
    )
    _judged: dict[_Key, Judged] = field(default_factory=dict[_Key, Judged])
    _left: Counter[str] = field(default_factory=Counter[str])

    def jobs(self) -> list[Job]:
        """Return the jobs: each program of a problem once, sorted by problem."""
        for sample in self.samples:
            self._left[sample.name] = len(sample.codes)
            for code in sample.codes:
                key = (sample.problem.id, code)
                if key not in self._waiting:
                    self._jobs.append(Job(len(self._jobs), sample.problem, code))
                self._waiting.setdefault(key, []).append(sample)
        return sorted(self._jobs, key=lambda job: job.problem.id)

    def keep(self, judged: Judged) -> None:
        """Store a grade and commit the samples that it completes. Raises StorageError."""
        job = self._jobs[judged.number]
        key = (job.problem.id, str(job.code))
        self._judged[key] = judged
        for sample in self._waiting[key]:
            self._left[sample.name] -= 1
            if not self._left[sample.name]:
                self._commit(sample)

    def compared(
        self, samples: Iterable[ImportedSample], results: Iterable[SampleResult]
    ) -> Iterator[Compared]:
        """Yield the solutions of all judged samples that have a published verdict too.

        Args:
            samples: all samples of the file.
            results: results of the run, also those of earlier calls.
        """
        by_name = {result.sample: result for result in results}
        for sample in samples:
            if sample.name in by_name:
                yield from compared(sample, by_name[sample.name], self._grades(sample))

    def _grades(self, sample: ImportedSample) -> dict[str, Grade]:
        """Return a sample's grades by code, as far as this call judged them."""
        keys = [(sample.problem.id, code) for code in sample.codes]
        return {key[1]: self._judged[key].grade for key in keys if key in self._judged}

    def _commit(self, sample: ImportedSample) -> None:
        final = self._judged[sample.problem.id, sample.final]
        if final.grade.verdict in INFRASTRUCTURE:
            self.failures.append((sample.name, final.grade.verdict, final.cause))
            return
        with self.directory.transcript(sample.problem.id, sample.index) as write:
            write(Graded(grade=final.grade))
        self.directory.results.append(result_from(sample, self._grades(sample), self.price))
