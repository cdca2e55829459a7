"""Recorded conversations as a model: any run can be played again without a provider."""

from importlib.resources import as_file, files
from pathlib import Path

from harness.agent.events import Response, SampleStart
from harness.errors import UsageError
from harness.models.protocol import ModelTurn
from harness.models.replay import ReplayModel
from harness.runs.transcript import read_events

PREFIX = "replay:"
BUNDLED = "bundled"


def open_replay(name: str, mode: str) -> ReplayModel:
    """The model `replay:RUN`, or `replay:bundled` for the recordings that come with the package.

    Raises:
        UsageError: there are no transcripts there.
    """
    where = name.removeprefix(PREFIX)
    if where == BUNDLED:
        with as_file(files("harness") / "fixtures" / "recordings" / mode) as folder:
            return ReplayModel(name, read_turns(folder))
    return ReplayModel(name, read_turns(Path(where)))


def read_turns(run: Path) -> dict[tuple[str, int], list[ModelTurn]]:
    """What the model said in each sample of a run, by problem id and sample index.

    Raises:
        UsageError: there are no transcripts there.
    """
    folder = run / "transcripts"
    paths = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    if not paths:
        raise UsageError(f"{PREFIX}{run}: no transcripts there; give the directory of a run")
    turns: dict[tuple[str, int], list[ModelTurn]] = {}
    for path in paths:
        events = list(read_events(path))
        start = next((event for event in events if isinstance(event, SampleStart)), None)
        if start is not None:
            said = [event.response for event in events if isinstance(event, Response)]
            turns[start.problem_id, start.index] = said
    return turns
