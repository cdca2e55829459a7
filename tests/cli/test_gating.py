"""`--fail-under` passes only when what is not graded cannot change that."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from results_made import made_result
from rich.console import Console

from harness.grading.verdict import Verdict
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.terminal.gate import gate

Gate = Callable[..., tuple[int, str]]


@pytest.fixture
def gated(tmp_path: Path) -> Gate:
    """The exit code and words for a run of ten problems, of which the first are as the letters say.

    `A` is solved, `a` failed, `-` has no test.
    """

    def of(letters: str, least: float, samples: int = 1) -> tuple[int, str]:
        problems = {f"p{number}": "h" for number in range(10)}
        spec = RunSpec(model="made", samples_per_problem=samples).model_dump(mode="json")
        directory = RunDirectory.create(
            tmp_path / "r",
            {"prompt": {"name": "default", "hash": "h"}, "spec": spec, "problems": problems},
        )
        for number, letter in enumerate(letters):
            changes = {"verdict": Verdict.UNGRADED} if letter == "-" else {}
            directory.results.append(made_result(f"p{number}", solved=letter == "A", **changes))
        directory.close()
        output = io.StringIO()
        return gate(Console(file=output), directory.path, least), output.getvalue()

    return of


@pytest.mark.parametrize(
    ("letters", "least", "code"),
    [
        ("AAAAAAAAAA", 1.0, 0),
        ("AAAAAAAAAa", 0.9, 0),
        ("AAAAAAAAAa", 0.91, 1),
        ("A", 0.9, 4),  # one of ten is graded
        ("AAAAAAAAA", 0.9, 0),  # whatever becomes of the last
        ("AAAAAAAAA", 0.91, 4),
        ("aa", 0.81, 1),  # eight more cannot reach it
        ("aa", 0.8, 4),
        ("AAAAA-----", 0.6, 4),  # half have no test
        ("AAAAA-----", 0.5, 0),
        ("----------", 0.0, 4),
        ("", 0.0, 4),
    ],
)
def test_fail_under_is_decided_by_bounds_on_missing_samples(
    letters: str, least: float, code: int, gated: Gate
) -> None:
    exit_code, output = gated(letters, least)
    assert exit_code == code, output
    assert bool(output) is bool(code)


def test_fail_under_says_which_samples_are_missing(gated: Gate) -> None:
    _, output = gated("A", 0.9)
    assert "not decided, 9 of 10 samples not graded" in output
    assert "between 10.0 % and 100.0 %" in " ".join(output.split())


def test_samples_that_are_missing_of_a_problem_count(gated: Gate) -> None:
    assert gated("AAAAAAAAAA", 0.6, samples=2)[0] == 4


def test_a_run_of_which_no_sample_can_count_is_not_decided(tmp_path: Path) -> None:
    change = {"kind": "oneoff", "test": 0, "mutation": "number", "before": "1", "after": "2"}
    spec = RunSpec(model="made").model_dump(mode="json")
    manifest = {
        "prompt": {"name": "default", "hash": "h"},
        "spec": spec,
        "problems": {"p": "h"},
        "impossible": {"looked_at": 1, "unfit": {}, "problems": {"p": change}},
    }
    directory = RunDirectory.create(tmp_path / "r", manifest)
    directory.close()
    output = io.StringIO()
    assert gate(Console(file=output, width=200), directory.path, 0.1) == 4
    assert "not decided, no sample counts in a rate" in output.getvalue()
