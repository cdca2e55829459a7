"""A fact of one's own, a line of a table, stands on every screen that shows facts."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from visitor import Visitor

from harness import registry
from harness.features.compare.comparison import compare_runs
from harness.features.compare.markdown import comparison_markdown
from harness.features.compare.view import comparison_view
from harness.features.report.page import report_page
from harness.run.store.results import SampleResult
from harness.run.summary.fact import Fact
from harness.run.summary.loaded_run import read_run
from harness.terminal.run_screen import run_screen
from harness.terminal.summary_table import summary_view

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Shown = Callable[..., str]


@pytest.fixture
def runs(make_result: MakeResult, write_run: WriteRun) -> list[Path]:
    """Two runs that have ended, of which the second asked twice as much a sample."""
    paths: list[Path] = []
    for name, calls in (("once", 1), ("twice", 2)):
        results = [make_result(f"p/{n}", solved=n == 0, model_calls=calls) for n in range(2)]
        path = write_run(name, results, {"created": "2026-01-01T00:00:00+00:00"})
        (path / "summary.json").write_text(read_run(path).summary.model_dump_json())
        paths.append(path)
    return paths


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of a fact: requests a sample."""
    fact = Fact(
        *("requests_a_sample", "requests a sample", "quotient"),
        lambda summary: summary.model_calls / summary.graded,
        note=lambda _: "asked of the model",
    )
    table = ModuleType("own_facts")
    vars(table)["FACTS"] = (fact,)
    monkeypatch.setitem(sys.modules, "own_facts", table)
    monkeypatch.setattr(registry, "FACTS", (*registry.FACTS, "own_facts:FACTS"))


@pytest.mark.usefixtures("own")
def test_a_fact_of_ones_own_stands_on_every_screen(
    runs: list[Path], shown: Shown, visitor: Visitor
) -> None:
    once, twice = map(read_run, runs)

    def words(text: str) -> str:
        return " ".join(text.split())

    assert "requests a sample 2.00" in words(shown(summary_view(twice.summary)))
    assert "requests a sample 2.00 asked of the model" in words(shown(run_screen(twice)))
    comparison = compare_runs([once, twice])
    assert "requests a sample 1.00 2.00" in words(shown(comparison_view(comparison), 160))
    assert "| requests a sample | 1.00 | 2.00 |" in comparison_markdown(comparison)
    assert "requests a sample" in report_page([once, twice])
    first, second = visitor.links(visitor.page("/"), "/runs/")
    cells = {
        visitor.page(page).partition("requests a sample</dt><dd>")[2][:4]: page
        for page in (first, second)
    }
    assert set(cells) == {"1.00", "2.00"}
    one, other = (cells[cell].rpartition("/")[2] for cell in ("1.00", "2.00"))
    page = visitor.page(f"/compare?a={one}&b={other}")
    row = page.partition("requests a sample</th>")[2].partition("</tr>")[0]
    assert row.index(">1.00<") < row.index(">2.00<")


def test_without_its_table_no_screen_has_it(runs: list[Path], shown: Shown) -> None:
    assert "requests a sample" not in shown(summary_view(read_run(runs[0]).summary))
