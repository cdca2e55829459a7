"""Runs listed, and how their scores went over time."""

import json
import math
import os
import pwd
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from harness.features.show.ls_command import age, runs_view, trend_view
from harness.features.show.run_list import ListedRun, RunChange, list_runs, trends
from harness.run.store.directory import DEEPEST, RunDirectory, find_runs, is_under_way
from harness.run.store.planned_samples import BY_PROBLEM
from harness.run.store.results import SampleResult

MakeResult = Callable[..., SampleResult]
OTHER = 65_534  # the user `nobody`


@pytest.fixture
def write(write_run: Callable[..., Path], make_result: MakeResult) -> Callable[..., Path]:
    """A run of 20 problems, of which some are solved, that began on a day of January."""

    def make(
        name: str, day: int, solved: Iterable[int], *, problems: int = 20, **spec: Any
    ) -> Path:
        right = set(solved)
        results = [make_result(f"p{n}", solved=n in right) for n in range(problems)]
        created = {"created": f"2026-01-{day:02}T00:00:00+00:00"}
        return write_run(name, results, manifest=created, **spec)

    return make


def listed(folder: Path) -> tuple[ListedRun, ...]:
    return list_runs(find_runs(folder).paths).runs


def changes(folder: Path) -> dict[str, RunChange | None]:
    return {
        Path(each.path).name: each.change for trend in trends(listed(folder)) for each in trend.runs
    }


def test_runs_are_listed_the_newest_first(write: Callable[..., Path], tmp_path: Path) -> None:
    write("b", 2, range(10), mode="agentic")
    write("a", 1, range(5))
    write("c", 3, range(20), samples_per_problem=2)
    runs = listed(tmp_path)
    assert [Path(run.path).name for run in runs] == ["c", "b", "a"]
    assert [(run.state, run.pending) for run in runs] == [("pending", 20), ("done", 0), ("done", 0)]
    assert [run.pass_at_1.value for run in runs if run.pass_at_1] == [1.0, 0.5, 0.25]
    assert runs[1].cost == 10.0
    assert (runs[1].model, runs[1].mode, runs[1].prompt) == ("made-model", "agentic", "default")


def test_a_run_that_somebody_works_on_is_running(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    path = write("r", 1, range(3), samples_per_problem=2)
    assert listed(tmp_path)[0].state == "pending"
    directory = RunDirectory.resume(path)
    assert is_under_way(path)
    assert listed(tmp_path)[0].state == "running"
    directory.close()
    assert listed(tmp_path)[0].state == "pending"
    assert not is_under_way(tmp_path / "none")


def test_the_summary_is_believed_while_no_result_is_newer(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    path = write("r", 1, range(10))
    listed_run = list_runs([path]).runs[0]
    assert listed_run.pass_at_1 is not None
    summary = {"schema_version": 1}
    (path / "summary.json").write_text(json.dumps(summary))
    assert listed(tmp_path)[0] == listed_run  # it is not a summary
    from harness.run.summary.loaded_run import read_run

    fields = read_run(path).summary.model_dump(mode="json")
    fields["pass_at_1"]["value"] = 0.123
    (path / "summary.json").write_text(json.dumps(fields))
    rate = listed(tmp_path)[0].pass_at_1
    assert rate is not None
    assert rate.value == 0.123
    newer = (path / "summary.json").stat().st_mtime + 5
    os.utime(path / "results.jsonl", (newer, newer))
    assert listed(tmp_path)[0] == listed_run


def test_folders_that_are_no_runs_are_told_apart(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    write("good", 1, range(3))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    listing = list_runs(find_runs(tmp_path).paths)
    assert [Path(run.path).name for run in listing.runs] == ["good"]
    assert len(listing.unreadable) == 1
    assert "bad" in listing.unreadable[0]


@pytest.mark.parametrize("closed", ["bad", "bad/run.json", "bad/results.jsonl"])
def test_a_run_that_may_not_be_read_is_named_beside_the_others(
    write: Callable[..., Path], tmp_path: Path, closed: str
) -> None:
    write("good", 1, range(3))
    write("bad", 2, range(3))
    with TemporaryDirectory() as place:  # where another user may look
        folder = Path(shutil.copytree(tmp_path, Path(place) / "runs"))
        for parent in (Path(place), folder):
            parent.chmod(0o755)
        (folder / closed).chmod(0)
        with other_user() as user:
            listing = list_runs(find_runs(folder).paths)
        (folder / closed).chmod(0o700)
    assert [Path(run.path).name for run in listing.runs] == ["good"]
    (line,) = listing.unreadable
    assert line.startswith(str(folder / "bad"))
    assert line.endswith(f"cannot be read: permission denied for user {user}")


@contextmanager
def other_user() -> Iterator[str]:
    """Be a user to whom permissions apply."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(OTHER)
    try:
        yield pwd.getpwuid(os.geteuid()).pw_name
    finally:
        os.seteuid(own)


def test_runs_are_found_in_folders_of_folders(write: Callable[..., Path], tmp_path: Path) -> None:
    run = write("r", 1, range(3))
    deep = tmp_path.joinpath(*"x" * (DEEPEST - 1))
    deep.mkdir(parents=True)
    run.rename(deep / "r")
    too_deep = deep / "r2" / "below"
    too_deep.mkdir(parents=True)
    (too_deep / "run.json").write_text("{}")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(find_runs(tmp_path).paths) == [deep / "r"]
    assert list(find_runs(deep / "r").paths) == [deep / "r"]


def test_a_worse_run_is_a_regression_and_chance_is_not(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    write("first", 1, range(15))
    write("same", 2, range(15))
    write("chance", 3, range(13))
    write("worse", 4, range(3))
    write("better", 5, range(19))
    comparisons = changes(tmp_path)
    assert comparisons["first"] is None
    labels = {name: change.word for name, change in comparisons.items() if change}
    assert labels == {"same": "", "chance": "", "worse": "regression", "better": "improvement"}
    worse = comparisons["worse"]
    assert worse is not None
    assert (worse.better, worse.worse, worse.problems) == (0, 10, 20)
    assert worse.difference == pytest.approx(-0.5)
    assert worse.p_value == pytest.approx(math.erfc(math.sqrt(10 / 2)))  # McNemar: (10 - 0)^2 / 10
    assert worse.against.endswith("chance")


def test_a_run_is_compared_with_the_last_of_its_kind_else_with_the_last(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    write("single1", 1, range(5))
    write("agentic1", 2, range(15), mode="agentic")
    write("single2", 3, range(6))
    write("agentic2", 4, range(16), mode="agentic")
    against = {
        name: Path(change.against).name for name, change in changes(tmp_path).items() if change
    }
    assert against == {"agentic1": "single1", "single2": "single1", "agentic2": "agentic1"}


def test_runs_of_other_problems_are_another_selection(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    write("a", 1, range(20))
    write("b", 2, (), problems=19)
    assert changes(tmp_path) == {"a": None, "b": None}
    assert [trend.problems for trend in trends(listed(tmp_path))] == [19, 20]


def test_a_change_of_limits_is_noted(
    write: Callable[..., Path],
    write_run: Callable[..., Path],
    make_result: MakeResult,
    tmp_path: Path,
) -> None:
    write("a", 1, range(20))
    results = [make_result(f"p{n}") for n in range(20)]
    manifest = {"created": "2026-02-01T00:00:00+00:00", "test_limits": {"made": {"cpu_s": 1.0}}}
    write_run("b", results, manifest=manifest)
    change = changes(tmp_path)["b"]
    assert change is not None
    assert change.notes == ("other limits",)
    assert change.word == "regression"


def test_words_of_others_are_only_words(
    write_run: Callable[..., Path],
    make_result: MakeResult,
    shown: Callable[..., str],
    tmp_path: Path,
) -> None:
    manifest = {"prompt": {"name": "\x1b[2J[red]p", "hash": "h"}}
    write_run("r", [make_result("a")], manifest=manifest)
    now = datetime(2026, 1, 2, tzinfo=UTC)
    text = shown(runs_view(listed(tmp_path), tmp_path, now))
    assert "\x1b[2J" not in text
    assert r"\x1b[2J[red]p" in text
    for trend in trends(listed(tmp_path)):
        for part in trend_view(trend, tmp_path):
            assert "\x1b[2J" not in shown(part)


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_tables_fit(
    write: Callable[..., Path], shown: Callable[..., str], tmp_path: Path, width: int
) -> None:
    write("a", 1, range(15))
    write("a-run-with-a-long-name-that-says-much-and-is-not-short", 2, range(2))
    runs = listed(tmp_path)
    parts = [runs_view(runs, tmp_path, datetime(2026, 1, 3, tzinfo=UTC))]
    parts += [part for trend in trends(runs) for part in trend_view(trend, tmp_path)]
    for part in parts:
        assert max(map(len, shown(part, width).splitlines())) <= width
    assert "regression" in shown(parts[-1], width)


def test_an_age_is_told_in_its_largest_unit() -> None:
    assert [age(s) for s in (-5, 30, 60, 7_300, 200_000)] == ["now", "now", "1 min", "2 h", "2 d"]


def test_problems_with_different_numbers_of_samples_show_their_mean(
    write_run: Callable[..., Path], make_result: MakeResult, shown: Callable[..., str]
) -> None:
    results = [make_result("p0"), make_result("p0", index=1), make_result("p1")]
    path = write_run("r", results, manifest={BY_PROBLEM: {"p1": 1}}, samples_per_problem=2)
    (run,) = list_runs([path]).runs
    assert (run.state, run.samples, run.samples_done) == ("done", 2, 1.5)
    assert "2 x 1.5" in shown(runs_view([run], path.parent, datetime.now(UTC)), 120)
