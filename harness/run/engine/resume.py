"""What a run's earlier invocations spent: every request that they sent, whatever came of it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import RunDirectoryError
from harness.run.plan.budget import Spent
from harness.run.store.request_log import requests_of
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was spent on a run so far.

    Attributes:
        requests: every request, the unknown ones last.
        unfinished: those of samples without a result, by the name of the sample's transcript.
    """

    requests: list[Spent] = field(default_factory=list[Spent])
    unfinished: Mapping[str, list[Spent]] = field(default_factory=dict[str, list[Spent]])

    @property
    def unheard(self) -> int:
        """How many requests of unfinished samples nobody heard the answer to."""
        return sum(each.estimated for spent in self.unfinished.values() for each in spent)


def earlier_spending(run: Path, results: Iterable[SampleResult]) -> Earlier:
    """What was spent on a run so far, request by request.

    Raises:
        RunDirectoryError: its pack is damaged.
    """
    done = {file_name(result.problem_id, result.index): result for result in results}
    spent: list[Spent] = []
    unfinished: dict[str, list[Spent]] = {}
    with Transcripts(run) as transcripts:
        names = set(transcripts.names())
        for name in names:
            of_sample: list[Spent] = []
            with suppress(RunDirectoryError):  # what is broken is begun anew
                of_sample += requests_of(transcripts.events(name))
            spent += of_sample
            if name not in done:
                unfinished[name] = of_sample
    spent += [
        Spent(result.usage, result.model_calls)
        for name, result in done.items()
        if name not in names and result.model_calls
    ]
    return Earlier(sorted(spent, key=lambda each: each.usage is None), unfinished)


def unheard_requests(run: Path, done: Iterable[SampleResult]) -> int:
    """How many requests of samples without a result nobody heard the answer to.

    Raises:
        RunDirectoryError: its pack is damaged.
    """
    finished = {file_name(result.problem_id, result.index) for result in done}
    found = 0
    with Transcripts(run) as transcripts:
        for name in set(transcripts.names()) - finished:
            with suppress(RunDirectoryError):
                found += sum(each.estimated for each in requests_of(transcripts.events(name)))
    return found
