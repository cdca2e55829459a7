"""Recorded conversations as a model: any run can be replayed without a provider."""

from collections.abc import Iterable, Iterator
from importlib.resources import as_file, files
from pathlib import Path

from harness.agent.attempt import StopReason
from harness.agent.events import (
    AgentLeft,
    Cleared,
    Damaged,
    Event,
    Request,
    Response,
    SampleEnd,
    SampleStart,
    standing,
)
from harness.errors import UsageError
from harness.models.protocol import (
    ContextOverflowError,
    Model,
    ModelError,
    ModelTurn,
    RecordingEndedError,
)
from harness.models.replay import ReplayModel
from harness.run.store.transcript import sample_in
from harness.run.store.transcripts import Transcripts

PREFIX = "replay:"
BUNDLED = "bundled"
LIMITS = frozenset(reason for reason in StopReason if reason.endswith("_limit"))


def open_replay(name: str, mode: str) -> ReplayModel:
    """Open the model `replay:RUN`, or `replay:bundled` for the bundled recordings.

    Raises:
        UsageError: there are no transcripts.
    """
    where = name.removeprefix(PREFIX)
    if where == BUNDLED:
        with as_file(files("harness") / "fixtures" / "recordings") as folder:
            there = sorted(each.name for each in folder.iterdir() if each.is_dir())
            if mode not in there:
                raise UsageError(
                    f"there are no bundled recordings of {mode}, but of {' and '.join(there)}; "
                    "name a model with -m"
                )
            return ReplayModel(name, read_turns(folder / mode))
    return ReplayModel(name, read_turns(Path(where)))


def check_recorded(model: Model, problems: Iterable[str], samples: int) -> None:
    """Refuse more samples per problem than any problem has recordings of.

    Raises:
        UsageError: says how many there are.
    """
    if not isinstance(model, ReplayModel):
        return
    most = model.most_samples(problems)
    if 0 < most < samples:
        raise UsageError(
            f"{model.name} has at most {most} recorded of a problem, and {samples} samples are "
            f"asked for: give -k {most}, or name a model with -m"
        )


def read_turns(run: Path) -> dict[tuple[str, int], list[ModelTurn | ModelError]]:
    """Return the result of each request by sample (problem id and index).

    Raises:
        UsageError: there are no transcripts.
    """
    turns: dict[tuple[str, int], list[ModelTurn | ModelError]] = {}
    with Transcripts(run) as transcripts:
        names = transcripts.names()
        if not names:
            raise UsageError(f"{PREFIX}{run}: no transcripts there; give the directory of a run")
        for name in names:
            events = standing(transcripts.events(name))
            start = next((event for event in events if isinstance(event, SampleStart)), None)
            sample = sample_in(name) if start is None else (start.problem_id, start.index)
            if sample is not None and events:
                turns[sample] = list(_played(events, "" if start is None else start.mode))
    return turns


def _played(events: Iterable[Event], mode: str) -> Iterator[ModelTurn | ModelError]:
    """Yield the recorded result of each request.

    Older versions ended the agent loop when a model called no tool; such recordings still end
    there.
    """
    asked = damaged = False
    ends = {*LIMITS, StopReason.MODEL_STOPPED} if mode == "agentic" else LIMITS
    for event in events:
        match event:
            case Request() if asked and damaged:
                yield ModelError("the recorded answer cannot be read: its line is damaged")
                return
            case Damaged():
                damaged = True
            case Request():
                asked, damaged = True, False
            case Response():
                asked = False
                yield event.response
            case Cleared():
                asked = False
                yield ContextOverflowError(event.cause)
            case AgentLeft():  # its next steps are unknown
                words = "the recorded agent left here"
                yield RecordingEndedError(words, StopReason.MODEL_STOPPED, asked=False)
                return
            case SampleEnd(stop_reason=StopReason.CONTEXT_LIMIT):
                yield ContextOverflowError(event.error)
            case SampleEnd(stop_reason=reason) if reason in ends:
                words = f"the recorded sample ended here: {reason.replace('_', ' ')}"
                yield RecordingEndedError(words, reason, asked=asked)
            case _:
                pass
