"""What a run's earlier invocations spent: more than its results say.

A sample that was interrupted, or failed after some answers, was paid for and has no result. Its
transcript tells of it until it is begun anew; before that what it cost is put into `spent.jsonl`.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from harness.agent.events import Request, Response, SampleEnd
from harness.errors import RunDirectoryError
from harness.models.protocol import Frozen, Usage
from harness.runs.budget import Spent
from harness.runs.results import SampleResult, storage_error
from harness.runs.transcript import file_name, read_events

SPENT = "spent.jsonl"


class Abandoned(Frozen):
    """An attempt at a sample that came to nothing.

    Attributes:
        file: its transcript's name.
        usage: of the answers that told theirs.
        requests: how many those were; `unknown` are the others that may have to be paid for.
    """

    file: str
    usage: Usage
    requests: int
    unknown: int


def earlier_spending(run: Path, results: Iterable[SampleResult]) -> list[Spent]:
    """What was spent on a run so far, the unknown last."""
    done = list(results)
    spent = [Spent(result.usage, result.model_calls) for result in done]
    committed = {file_name(result.problem_id, result.index) for result in done}
    lost = [
        _abandoned(path)
        for path in sorted((run / "transcripts").glob("*.jsonl"))
        if path.name not in committed
    ]
    for each in (*lost, *_kept(run / SPENT)):
        spent += [Spent(each.usage, each.requests), Spent(None, each.unknown)]
    return sorted((each for each in spent if each.requests), key=lambda each: each.usage is None)


def keep_spending(transcript: Path, ledger: Path) -> None:
    """Write down what an unfinished sample cost, before its transcript is written anew.

    Raises:
        StorageError: the disk refused.
    """
    lost = _abandoned(transcript)
    if not lost.requests and not lost.unknown:
        return
    try:
        with ledger.open("ab") as file:
            file.write(lost.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise storage_error(ledger, error) from error


def _abandoned(transcript: Path) -> Abandoned:
    usage, known, unknown, waiting = Usage(), 0, 0, False
    with suppress(RunDirectoryError):  # what is broken is begun anew, like everything unfinished
        for event in read_events(transcript):
            match event:
                case Request():
                    waiting = True
                case Response(response=turn):
                    waiting = False
                    usage += turn.usage or Usage()
                    known += turn.usage is not None
                    unknown += turn.usage is None
                case SampleEnd():  # an error of the provider's, which is not billed
                    waiting = False
                case _:
                    pass
    return Abandoned(file=transcript.name, usage=usage, requests=known, unknown=unknown + waiting)


def _kept(ledger: Path) -> Iterator[Abandoned]:
    if not ledger.exists():
        return
    for line in ledger.read_bytes().splitlines():
        with suppress(ValidationError):  # torn by a crash: the transcript still stands
            yield Abandoned.model_validate_json(line)
