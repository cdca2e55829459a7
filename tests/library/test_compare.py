"""`compare`, and how results are shown on a terminal and in a notebook."""

import json
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from own_problems import ECHO
from program import harness as program
from rich.console import Console
from runs_made import write_experiment

import harness
from harness import (
    Evaluation,
    HarnessError,
    RunComparison,
    UsageError,
    compare,
    evaluate,
    grade,
    load_run,
)

pytestmark = pytest.mark.usefixtures("kept_sandbox")

HOSTILE = "[red]x[/red] [link=http://evil]y[/link] :smile: <script>alert(1)</script> \x1b[2J"


def echo(_: dict[str, Any]) -> str:
    return "print(input())"


def one(_: dict[str, Any]) -> str:
    return "print(1)"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evaluation, Evaluation, Path]:
    """Two evaluations, the second of which is kept."""
    folder = tmp_path_factory.mktemp("compare")
    row = {**ECHO, "title": HOSTILE}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    spec = f"jsonl:{folder / 'rows.jsonl'}"
    return evaluate(echo, benchmark=spec), evaluate(one, benchmark=spec, out=folder / "b"), folder


Runs = tuple[Evaluation, Evaluation, Path]


def test_compare_takes_evaluations_and_directories(compared: Runs) -> None:
    a, b, folder = compared
    for comparison in (compare(a, b), compare(a, folder / "b"), compare(a, str(folder / "b"))):
        (versus,) = comparison.versus
        assert (comparison.baseline, versus.paired.difference, versus.paired.better_a) == (
            *("A", -1.0, ("own/echo",)),
        )


def test_compare_takes_another_baseline(compared: Runs) -> None:
    a, b, folder = compared
    assert compare(a, b, baseline=b).baseline == "B"
    assert compare(a, b, baseline=str(folder / "b")).baseline == "A", "one more, which comes first"
    assert len(compare(a, b, a).versus) == 2


def test_compare_returns_what_the_command_prints(compared: Runs) -> None:
    _, b, folder = compared
    shutil.copytree(folder / "b", folder / "again")
    done = program(folder, "compare", "b", "again", "--json")
    theirs = json.loads(done.stdout)
    data = json.loads(compare(b, folder / "again").model_dump_json())
    for side in (*data["runs"], *theirs["runs"]):
        side.pop("path")
    assert data == theirs


def test_compare_refuses_what_is_no_run(compared: Runs, tmp_path: Path) -> None:
    a, *_ = compared
    with pytest.raises(UsageError, match="is not a run"):
        compare(a, tmp_path)
    with pytest.raises(UsageError, match="a int is not a run"):
        compare(a, 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="27 runs are too many to compare; give 26"):
        compare(*[a] * 27)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (1.0, "at is a float; give a list of numbers, as at=[0.5, 1.0]"),
        ("1", "at is a str; give a list of numbers"),
        (["1"], "at has a str; give a list of numbers"),
        ([None], "at has a NoneType; give a list"),
    ],
)
def test_spends_that_are_no_list_of_numbers(at: Any, message: str, compared: Runs) -> None:
    with pytest.raises(UsageError) as caught:
        compare(*compared[:2], at=at)
    assert message in str(caught.value)


def test_a_filter_that_is_no_word(compared: Runs) -> None:
    with pytest.raises(UsageError) as caught:
        compare(*compared[:2], filter_difficulty=3)  # type: ignore[arg-type]
    assert str(caught.value) == "filter_difficulty 3: give a word, or a list of words"


def test_loading_a_folder_without_a_run_is_refused(compared: Runs) -> None:
    place = compared[1].path
    assert place is not None
    with pytest.raises(UsageError, match="a NoneType is not a run; give its directory"):
        load_run(None)  # type: ignore[arg-type]
    with pytest.raises(HarnessError) as caught:
        load_run(place / "run.json")
    assert str(caught.value).endswith(f"is a file of a run; give its directory, {place}")
    with pytest.raises(HarnessError, match=r"see them with: harness experiment show .*/grid"):
        load_run(write_experiment(place.parent / "grid"))


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert {name for name, _ in attrs} <= {"style"}

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(thing: object, width: int = 200) -> str:
    """As a user's own console prints it, which takes markup in texts for markup."""
    console = Console(file=StringIO(), width=width, record=True)
    console.print(thing)
    return console.export_text()


@pytest.fixture
def things(compared: Runs, write_problems: Callable[..., str]) -> list[Any]:
    a, b, _ = compared
    problem = harness.load_problems(write_problems(ECHO))
    code = f"raise Exception({HOSTILE!r})"
    rows = [{"problem_id": "own/echo", "code": code, "passed": True}]
    return [a, b, compare(a, b), grade(problem, rows)]


def test_notebooks_get_html_in_which_every_text_is_escaped(things: list[Any]) -> None:
    for thing in things:
        tags = Tags(thing._repr_html_())
        assert tags.seen <= {"pre", "span"}
        assert "\x1b" not in tags.text
    assert "points fewer than" in " ".join(Tags(things[2]._repr_html_()).text.split())
    assert "<script>alert(1)" in Tags(things[3]._repr_html_()).text


def test_terminals_get_texts_as_they_are(things: list[Any]) -> None:
    for thing in things:
        text = shown(thing)
        assert "\x1b[2J" not in text
        assert text.strip()
    assert "solved  100.0 %" in shown(things[0])
    assert ":smile:" in shown(things[3])
    assert "[link=http://evil]" in shown(things[3])
    assert "95 % interval" in shown(things[2])
    assert isinstance(things[2], RunComparison)
    assert str(things[2]) == repr(things[2])
    assert repr(things[2]).startswith("<RunComparison: ")
