"""Problems of one's own, and how a file is imported for them."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import DOUBLE, ECHO
from program import Done, harness

from harness.features.import_.imported_sample import ImportedSample
from harness.features.import_.sample_finder import Finder, read_samples
from harness.features.import_.trajectory_file import TrajectoryFile, format_of
from harness.features.import_.trajectory_import import transcript_of
from harness.sources.benchmarks import load

Import = Callable[..., Done]
Read = Callable[..., list[ImportedSample]]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with `own.jsonl`: `own/echo`, of one public and two hidden tests, and `double`."""
    rows = json_lines((ECHO, DOUBLE))
    (tmp_path / "own.jsonl").write_text(rows)
    return tmp_path


@pytest.fixture
def take(own: Path) -> Import:
    """Import a file of rows, or of anything that is written as one JSON value, into `r`."""

    def taken(content: Any, *flags: str, name: str = "a.jsonl") -> Done:
        written(own / name, content)
        given = ("--problems", "jsonl:own.jsonl", "--out", "r", *flags)
        return harness(own, "import", name, *given)

    return taken


@pytest.fixture
def read(own: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read a file without judging anything; its format is found, unless it is given."""
    monkeypatch.chdir(own)

    def samples_in(
        content: Any, format_: str | None = None, *, name: str = "a.jsonl", **finder: Any
    ) -> list[ImportedSample]:
        path = Path(name)
        written(path, content)
        field = finder.pop("problem_field", None)
        file = TrajectoryFile(path, format_ or format_of(path), field)
        problems = load("jsonl:own.jsonl").problems
        sample_finder = Finder(problems, "harness", **finder)
        samples, *_ = read_samples(file, sample_finder)
        for trajectory, sample in sample_finder.samples(file.trajectories(), Counter()):
            for event in transcript_of(trajectory, sample, "m", "agentic"):
                assert event.model_dump_json(by_alias=True).encode()  # it can be written
        return samples

    return samples_in


def written(path: Path, content: Any) -> None:
    """Write bytes as they are, a list as rows, anything else as one JSON value on many lines."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, list):
        path.write_text(json_lines(content))
    else:
        path.write_text(json.dumps(content, indent=1))
