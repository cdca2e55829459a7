"""What exports say of runs whose solutions are timed, and that of others they say nothing new."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from efficiency_made import made_efficiency, made_scale

from harness.features.export.inspect_log import write_inspect
from harness.features.export.sample_rows import EFFICIENCY_FIELDS, FIELDS, csv_text, write_parquet
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

MakeResult = Callable[..., SampleResult]
MakeRun = Callable[..., Run]


@pytest.fixture
def timed(make_run: MakeRun, make_result: MakeResult) -> Run:
    """One in the middle, one that failed, one of a problem that tells nothing, one not timed."""
    alike = made_scale((1.0,))
    return make_run(
        [
            make_result("a", solved=True, efficiency=made_efficiency(3.0, remark="=cmd|A0")),
            make_result("b", efficiency=made_efficiency(None)),
            make_result("c", solved=True, efficiency=made_efficiency(1.0, alike)),
            make_result("d", solved=True),
        ]
    )


def test_a_row_has_time_and_place(timed: Run) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(csv_text(timed)), newline="")))
    assert list(rows[0]) == [*list(FIELDS)[:-1], *EFFICIENCY_FIELDS, "code"]
    timings = [{name: row[name] for name in EFFICIENCY_FIELDS} for row in rows]
    middle, failed, untold, untimed = timings
    assert (middle["timing"], float(middle["cpu_s"])) == ("paired", 3e-6)
    assert (float(middle["beyond"]), float(middle["percentile"])) == (0.5, 37.5)
    assert float(middle["beyond_low"]) < 0.5 < float(middle["beyond_high"])
    assert middle["remark"] == "'=cmd|A0"
    assert (failed["beyond"], failed["cpu_s"], failed["percentile"]) == ("0.0", "", "")
    assert (untold["beyond"], untold["lack"]) == ("", "one reference passes")
    assert set(untimed.values()) == {""}


def test_a_parquet_file_has_them_as_numbers(timed: Run, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    write_parquet(timed, tmp_path / "a.parquet")
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["beyond"] for row in rows] == [0.5, 0.0, None, None]
    assert [row["lack"] for row in rows] == [None, None, "one reference passes", None]


def test_a_run_that_was_not_timed_has_the_columns_it_had(
    make_run: MakeRun, make_result: MakeResult
) -> None:
    head = next(iter(csv_text(make_run([make_result("a", solved=True)]))))
    assert head.strip().split(",") == list(FIELDS)


def test_inspects_log_has_metric_and_score(timed: Run, tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log")
    write_inspect(timed, tmp_path / "a.eval")
    read = log.read_eval_log(str(tmp_path / "a.eval"))
    metrics = read.results.scores[0].metrics
    assert metrics["beyond_at_1"].value == pytest.approx(0.25)
    assert metrics["beyond_at_1_passed"].value == pytest.approx(0.5)
    assert metrics["accuracy"].value == pytest.approx(0.75)
    score_metadata = [sample.scores["harness"].metadata for sample in read.samples]
    assert [each.get("beyond", "none") for each in score_metadata] == [0.5, 0.0, None, "none"]
