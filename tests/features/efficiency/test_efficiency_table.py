"""How fast solutions are, as a terminal shows it; and nothing of it where nothing was timed."""

import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from efficiency_made import made_efficiency, made_scale
from for_each import for_each
from rich.console import Console

from harness.features.efficiency.efficiency_summary import cpu_time, rank, score
from harness.features.efficiency.part_view import VIEW
from harness.features.efficiency.scale import Efficiency
from harness.features.show.chosen_samples import shown_samples
from harness.features.show.ls_command import runs_view
from harness.features.show.run_list import list_runs
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import read_run
from harness.run.summary.summary import summarize
from harness.terminal.live.tally import Tally
from harness.terminal.run_progress import RunProgress
from harness.terminal.sample_table import result_row, sample_table
from harness.terminal.summary_table import summary_view

MakeResult = Callable[..., SampleResult]
Shown = Callable[..., str]
WriteRun = Callable[..., Path]
COLUMNS = ("CPU time", "Pctl", "B@1")


@pytest.fixture
def timed(make_result: MakeResult) -> list[SampleResult]:
    """One faster than all, one in the middle, one that fails, one of a problem that tells none."""
    alike = made_scale((1.0, 1.0001), doubt=0.01)
    return [
        make_result("a", solved=True, efficiency=made_efficiency(0.5)),
        make_result("b", solved=True, efficiency=made_efficiency(3.0, remark="it remembers")),
        make_result("c", efficiency=made_efficiency(None)),
        make_result("d", solved=True, efficiency=made_efficiency(1.0, alike)),
    ]


def words(text: str) -> str:
    return " ".join(text.split())


@for_each(
    ("seconds", "text"),
    [
        (None, "-"),
        (2.34e-7, "0.234 µs"),
        (1.02e-6, "1.02 µs"),
        (2.01e-5, "20.1 µs"),
        (4.56e-4, "456 µs"),
        (0.0201, "20.1 ms"),
        (3.2, "3.20 s"),
        (1234.0, "1,234 s"),
    ],
)
def test_cpu_time_is_told_in_the_unit_it_needs(seconds: float | None, text: str) -> None:
    assert cpu_time(seconds) == text


def test_ranks_and_scores_are_told_as_mercury_does() -> None:
    assert (rank(92.3), rank(0.0), rank(None)) == ("P92", "P0", "-")
    assert (score(0.98612), score(1.0), score(None)) == ("0.986", "1.000", "-")


def test_the_summary_has_every_mean_and_what_is_in_none(
    timed: list[SampleResult], shown: Shown
) -> None:
    text = words(shown(summary_view(summarize(timed, 4))))
    assert re.search(r"Beyond@1 0\.500 0\.\d+ to 0\.\d+ 3 ", text)
    assert re.search(r"passed samples only 0\.750 0\.\d+ to 0\.\d+ 2 ", text)
    assert re.search(r"by branches, passed 0\.750 0\.\d+ to 0\.\d+ 2 ", text)
    assert re.search(r"percentile, passed P63 P\d+ to P\d+ 3 ", text)
    assert "efficiency 4 samples timed, or failed (4 paired) " in text
    assert "do not count what is done in C" in text
    assert "no Beyond for 1 problem: the references differ by less than the noise" in text
    assert "remark on 1 sample: it remembers" in text
    assert "Beyond@2" not in text


def test_several_samples_have_a_beyond_of_k(make_result: MakeResult, shown: Shown) -> None:
    results = [
        make_result("a", solved=True, index=at, efficiency=made_efficiency(time))
        for at, time in enumerate((1.0, 5.0))
    ]
    results.append(make_result("b", solved=True, efficiency=made_efficiency(1.0)))
    text = words(shown(summary_view(summarize(results, 3))))
    assert re.search(r"Beyond@2 1\.000 0\.\d+ to 1\.000 1 ", text)
    assert "Beyond@2 unknown for 1 problem with fewer samples; in no such mean" in text


def test_two_ways_of_timing_are_told_from_one(timed: list[SampleResult], shown: Shown) -> None:
    mercury = made_efficiency(1.0, made_scale(timing="mercury"))
    other = timed[0].model_copy(update={"efficiency": mercury})
    text = words(shown(summary_view(summarize([*timed[1:], other], 4))))
    assert "(3 paired, 1 mercury); two timing methods, which must not be averaged together" in text


def test_a_remark_cannot_act_on_the_terminal(make_result: MakeResult, shown: Shown) -> None:
    hostile = made_efficiency(1.0, remark="\x1b[2Jfast\nno Beyond")
    result = make_result("a", solved=True, efficiency=hostile)
    assert r"on 1 sample: \x1b[2Jfast\nno Beyond" in shown(summary_view(summarize([result], 1)))


def test_a_table_has_columns_as_in_mercurys_picture(
    timed: list[SampleResult], shown: Shown
) -> None:
    rows = [result_row(result, at, several=False) for at, result in enumerate(timed, 1)]
    table = shown(sample_table(rows), 140)
    head, *lines = [line for line in table.splitlines() if line[0] in "┃│"]
    assert [cell.strip() for cell in head.split("┃")[-4:-1]] == list(COLUMNS)
    cells = [[cell.strip() for cell in line.split("│")[-4:-1]] for line in lines]
    assert cells == [
        ["0.500 µs", "P100", "1.000"],
        ["3.00 µs", "P38", "0.500"],
        ["-", "-", "-"],
        ["1.00 µs", "P50", "-"],
    ]


def test_tables_have_no_efficiency_if_nothing_was_timed(
    make_result: MakeResult, write_run: WriteRun, tmp_path: Path, shown: Shown
) -> None:
    results = [make_result("a", solved=True), make_result("b")]
    run = write_run("r", results)
    rows = [result_row(result, 1, several=False) for result in results]
    views = [summary_view(summarize(results, 2)), sample_table(rows)]
    views.append(runs_view(list_runs([run]).runs, tmp_path, datetime.now(UTC)))
    text = "".join(shown(view, 200) for view in views)
    assert not re.search("CPU|Pctl|B@|Beyond|timed", text)
    samples = shown_samples(read_run(run))
    assert all("efficiency" not in sample.as_json() for sample in samples)


def test_columns_of_efficiency_leave_last(timed: list[SampleResult], shown: Shown) -> None:
    rows = [result_row(result, at, several=False) for at, result in enumerate(timed, 1)]
    heads = {width: shown(sample_table(rows, width=width), 140) for width in (120, 70, 50, 34)}
    assert all(name in heads[120] for name in ("turns", "cost", *COLUMNS))
    assert all(name in heads[70] for name in COLUMNS)
    assert "cost" not in heads[70]
    assert "B@1" in heads[50]
    assert "CPU" not in heads[34]
    assert "status" in heads[34]


def test_a_program_is_told_all_but_the_references(
    timed: list[SampleResult], write_run: WriteRun
) -> None:
    first = shown_samples(read_run(write_run("r", timed)))[0].as_json()
    efficiency = first["efficiency"]
    assert (efficiency["beyond"], efficiency["percentile"], efficiency["timing"]) == (
        1.0,
        100.0,
        "paired",
    )
    assert "references" not in efficiency


def test_runs_are_listed_with_their_beyond(
    timed: list[SampleResult],
    make_result: MakeResult,
    write_run: WriteRun,
    tmp_path: Path,
    shown: Shown,
) -> None:
    paths = [write_run("fast", timed), write_run("untimed", [make_result("a")])]
    runs = list_runs(paths).runs
    assert {Path(run.path).name: run.beyond and run.beyond.value for run in runs} == {
        "fast": pytest.approx(0.5),
        "untimed": None,
    }
    lines = shown(runs_view(runs, tmp_path, datetime.now(UTC)), 160).splitlines()
    place = [cell.strip() for cell in lines[1].split("┃")].index("Beyond@1")
    cells = {line.split("│")[1].strip(): line.split("│")[place].strip() for line in lines[3:-1]}
    assert cells == {"fast": "0.500", "untimed": "-"}


def test_the_tally_is_the_mean_that_the_summary_has(timed: list[SampleResult]) -> None:
    tally = Tally(4)
    assert tally.beyond is None
    for at, result in enumerate(timed, 1):
        tally.count(result)
        summed = summarize(timed[:at], 4).efficiency
        assert summed is not None
        assert summed.beyond is not None
        assert tally.beyond == pytest.approx(summed.beyond.value)


def progress(results: list[SampleResult], *, terminal: bool) -> str:
    file = io.StringIO()
    plain = Console(
        file=file, force_terminal=terminal, width=140, height=30, color_system=None, emoji=False
    )
    with RunProgress(plain, len(results), []) as shown:
        for result in results:
            shown.started(result.sample)
            shown.finished(result)
        if terminal:
            assert shown._live is not None
            lines = ["".join(part.text for part in line) for line in shown._live.lines()]
            return "\n".join(lines)
    return file.getvalue()


def test_the_live_table_has_score_and_columns(timed: list[SampleResult]) -> None:
    frame = progress(timed, terminal=True)
    assert "pass@1 75.0 %" in frame
    assert "Beyond@1 0.500" in frame
    assert all(name in frame for name in COLUMNS)
    assert "│ 3.00 µs │  P38 │ 0.500 │" in words(frame).replace("P38", " P38")


def test_the_columns_stay_when_the_timed_rows_have_scrolled_away(
    timed: list[SampleResult], make_result: MakeResult
) -> None:
    untimed = [make_result(f"p{number}") for number in range(40)]
    frame = progress([*timed, *untimed], terminal=True)
    assert "µs" not in frame
    assert all(name in frame for name in COLUMNS)
    assert not any(name in progress(untimed, terminal=True) for name in COLUMNS)


def test_a_file_gets_the_time_of_what_passed(timed: list[SampleResult]) -> None:
    lines = progress(timed, terminal=False).splitlines()
    assert lines[1].endswith("1.0 s  CPU 3.00 µs  P38  B@1 0.500")
    assert lines[2].endswith("calls 1  1.0 s")
    assert lines[3].endswith("CPU 1.00 µs  P50  B@1 -")


def test_a_solution_that_was_not_timed_has_dashes(make_result: MakeResult) -> None:
    result = make_result("a", solved=True, efficiency=Efficiency(timing="paired"))
    cells = result_row(result, 1, several=False).part_cells("efficiency", VIEW)
    assert [cell.text for cell in cells] == ["-", "-", "-"]
