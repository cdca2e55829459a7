"""Requests whose answer was lost when a run was interrupted."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.errors import RunDirectoryError
from harness.run.store.billed_requests import requests_of
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts


def unheard_requests(run: Path, done: Iterable[SampleResult]) -> int:
    """Return the number of requests of unfinished samples whose answer was lost."""
    finished = {file_name(result.problem_id, result.index) for result in done}
    number = 0
    transcripts = Transcripts(run)
    for name in set(transcripts.names()) - finished:
        with suppress(RunDirectoryError):
            number += sum(each.estimated for each in requests_of(transcripts.events(name)))
    return number
