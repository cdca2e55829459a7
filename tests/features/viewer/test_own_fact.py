"""A fact of one's own, a line of a table, stands on every screen that shows facts."""

import csv
import io
import json
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
from harness.features.export.sample_rows import csv_text
from harness.features.report.page import report_page
from harness.features.show.chosen_samples import shown_samples
from harness.run.store.results import SampleResult
from harness.run.summary.fact import Fact
from harness.run.summary.loaded_run import read_run, samples_frame
from harness.run.summary.sample_facts import SampleFact
from harness.terminal.run_screen import run_screen
from harness.terminal.sample_table import sample_table
from harness.terminal.summary_table import summary_view

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
Shown = Callable[..., str]
OF_RUN = Fact(
    *("requests_a_sample", "requests a sample", "quotient"),
    lambda summary: summary.model_calls / summary.graded,
    note=lambda _: "asked of the model",
)
OF_SAMPLE = SampleFact("pace", "pace", lambda s: s.seconds / s.model_calls, "{:.2f} s".format)


@pytest.fixture
def two_of_a_fact(make_result: MakeResult, write_run: WriteRun) -> list[Path]:
    """Two runs that have ended, of which the second asked twice as much a sample."""
    paths: list[Path] = []
    for name, calls in (("once", 1), ("twice", 2)):
        results = [
            make_result(f"p/{n}", solved=n == 0, model_calls=calls, seconds=3.0 + n)
            for n in range(2)
        ]
        path = write_run(name, results, {"created": "2026-01-01T00:00:00+00:00"})
        (path / "summary.json").write_text(read_run(path).summary.model_dump_json())
        paths.append(path)
    return paths


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of a fact each: requests a sample, and seconds a request."""
    module = ModuleType("own_facts")
    vars(module).update(OF_RUN=(OF_RUN,), OF_SAMPLE=(OF_SAMPLE,))
    monkeypatch.setitem(sys.modules, "own_facts", module)
    monkeypatch.setattr(registry, "FACTS", (*registry.FACTS, "own_facts:OF_RUN"))
    facts = (*registry.SAMPLE_FACTS, "own_facts:OF_SAMPLE")
    monkeypatch.setattr(registry, "SAMPLE_FACTS", facts)


@pytest.mark.usefixtures("own")
def test_a_fact_of_a_run_stands_on_every_screen(
    two_of_a_fact: list[Path], shown: Shown, visitor: Visitor
) -> None:
    once, twice = map(read_run, two_of_a_fact)

    def words(text: str) -> str:
        return " ".join(text.split())

    assert "requests a sample 2.00" in words(shown(summary_view(twice.summary)))
    assert "requests a sample 2.00 asked of the model" in words(shown(run_screen(twice)))
    comparison = compare_runs([once, twice])
    assert "requests a sample 1.00 2.00" in words(shown(comparison_view(comparison), 160))
    assert "| requests a sample | 1.00 | 2.00 |" in comparison_markdown(comparison)
    assert "requests a sample" in report_page([once, twice])
    addresses: dict[str, str] = {}
    for address in visitor.links(visitor.page("/"), "/runs/"):
        figure = visitor.page(address).partition("requests a sample</dt><dd>")[2][:4]
        addresses[figure] = address.rpartition("/")[2]
    page = visitor.page(f"/compare?a={addresses['1.00']}&b={addresses['2.00']}")
    row = page.partition("requests a sample</th>")[2].partition("</tr>")[0]
    assert row.index(">1.00<") < row.index(">2.00<")
    assert str(two_of_a_fact[0]) not in page


@pytest.mark.usefixtures("own")
def test_a_fact_of_a_sample_stands_in_tables_pages_and_exports(
    two_of_a_fact: list[Path], shown: Shown, visitor: Visitor
) -> None:
    run = read_run(two_of_a_fact[1])
    samples = shown_samples(run, sort="pace")
    assert [sample.row.sample for sample in samples] == ["p/1#0", "p/0#0"]
    assert samples[0].as_json()["pace"] == 2.0
    table = shown(sample_table(sample.row for sample in samples), 120)
    assert table.index(" pace ") < table.index(" 2.00 s ") < table.index(" 1.50 s ")
    rows = csv.DictReader(io.StringIO("".join(csv_text(run)), newline=""))
    assert [row["pace"] for row in rows] == ["1.5", "2.0"]
    assert list(samples_frame(run)["pace"]) == [1.5, 2.0]
    address = next(
        each
        for each in visitor.links(visitor.page("/"), "/runs/")
        if "2.00 s" in visitor.page(each)
    )
    page = visitor.page(f"{address}?sort=pace&down=1")
    assert page.index('data-label="pace" class="n">2.00 s<') < page.index(">1.50 s<")
    sample = next(each for each in visitor.links(page, f"{address}/samples/"))
    assert "<dt>pace</dt><dd>2.00 s</dd>" in visitor.page(sample.replace("&amp;", "&"))


def test_without_the_tables_nothing_has_them(two_of_a_fact: list[Path], shown: Shown) -> None:
    run = read_run(two_of_a_fact[0])
    assert "requests a sample" not in shown(summary_view(run.summary))
    assert "pace" not in json.dumps([sample.as_json() for sample in shown_samples(run)])
    assert "pace" not in next(csv_text(run))
