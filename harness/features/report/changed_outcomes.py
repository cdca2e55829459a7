"""Changed outcomes of two runs: the problems on which one did better, with conversations."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.errors import RunDirectoryError
from harness.features.compare.answer import interleaved
from harness.features.compare.comparison import Pairwise
from harness.features.compare.flips import Flip, FlipSample
from harness.features.compare.run_names import names_of
from harness.features.report.first_screen import headline_pair
from harness.features.report.labelled_runs import Pairing
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.run.summary.conversation import RevisionHistory, Row, aligned, conversation_of
from harness.run.summary.loaded_run import Run

MOST = 40
"""Most changed outcomes of a page; the others are in its table of samples."""
MOST_CHARACTERS = 3_000_000
"""Most characters of all conversations together; the rest are left out."""
EMPTY = RevisionHistory(())


class Half(NamedTuple):
    """Outcome of one of the two runs.

    Attributes:
        way: the verdict; if there are several samples, also how many are solved.
        talk: the conversation; None if there is no transcript, or no room.
    """

    name: str
    sample: str
    way: str
    good: bool
    code: str
    talk: RevisionHistory | None
    command: str


class Change(NamedTuple):
    """A problem on which one of two runs did better.

    Attributes:
        key: id for links.
        gained: whether the run did better than the baseline.
    """

    key: str
    title: str
    problem: str
    difficulty: str
    gained: bool
    a: Half
    b: Half

    @property
    def rows(self) -> Sequence[Row]:
        """Revisions of both, side by side."""
        return aligned(self.a.talk or EMPTY, self.b.talk or EMPTY)


class Changes(NamedTuple):
    """Changed outcomes of two runs; `left_out` is the number beyond `MOST`."""

    names: tuple[str, str]
    shown: tuple[Change, ...]
    left_out: int


def changed_outcomes(pairs: Sequence[Pairing]) -> Changes | None:
    """Return the changed outcomes of the pair on the first screen; None without a pair."""
    pair = headline_pair(pairs)
    if pair is None:
        return None
    runs = pair.base.run, pair.other.run
    versus, names = pair.comparison.versus[0], names_of(pair.comparison)
    shown = interleaved(versus, MOST)
    called = names[versus.baseline], names[versus.label]
    opened = [Transcripts(run.path) for run in runs]
    made = tuple(_changes(versus, shown, runs, opened, called))
    return Changes(called, made, len(versus.flips) - len(shown))


def _changes(
    versus: Pairwise,
    flips: Sequence[Flip],
    runs: tuple[Run, Run],
    opened: Sequence[Transcripts],
    names: tuple[str, str],
) -> Iterator[Change]:
    wanted = [{each.a.sample for each in flips}, {each.b.sample for each in flips}]
    results = [
        {result.sample: result for result in run.results if result.sample in samples}
        for run, samples in zip(runs, wanted, strict=True)
    ]
    room = MOST_CHARACTERS
    for number, flip in enumerate(flips, 1):
        halves: list[Half] = []
        for place, shown in enumerate((flip.a, flip.b)):
            result = results[place][shown.sample]
            talk = talk_of(opened[place], result) if room > 0 else None
            room -= _size(talk) if talk else 0
            halves.append(_half(names[place], shown, result, talk))
        yield Change(
            key=f"change-{number}",
            title=flip.title or flip.problem,
            problem=flip.problem,
            difficulty=flip.difficulty,
            gained=flip.better == versus.label,
            a=halves[0],
            b=halves[1],
        )


def _half(name: str, shown: FlipSample, result: SampleResult, talk: RevisionHistory | None) -> Half:
    verdict = str(result.verdict).replace("_", " ")
    verdict += "" if result.score is None else f", {result.score}"
    several = f"{shown.solved} of {shown.samples} solved (shown: {verdict})"
    return Half(
        name=name,
        sample=result.sample,
        way=several if shown.samples > 1 else verdict,
        good=result.solved,
        code=result.code,
        talk=talk,
        command=shown.command or "",
    )


def talk_of(opened: Transcripts, result: SampleResult) -> RevisionHistory | None:
    """Return a sample's conversation; None if there is none, or it cannot be read."""
    name = file_name(result.problem_id, result.index)
    try:
        return conversation_of(opened.events(name), result) if opened.exists(name) else None
    except RunDirectoryError:
        return None


def _size(talk: RevisionHistory) -> int:
    of = sum(len(each.text) + len(each.code) + len(each.report) for each in talk.revisions)
    return of + len(talk.rest)
