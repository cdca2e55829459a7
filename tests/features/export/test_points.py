"""Points of problems that give some: in exports, screens, comparisons, reports and the viewer."""

from pathlib import Path

from results_made import made_result

from harness.features.compare.comparison import compare_runs
from harness.features.compare.library import flip_rows
from harness.features.compare.table_rows import rows_of
from harness.features.compare.view import flip_words
from harness.features.export.junit import junit_text
from harness.features.export.sample_rows import FIELDS, csv_text, fields_of, record
from harness.features.report.page import report_page
from harness.features.show.chosen_samples import shown_samples
from harness.grading.verdict import Score
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run

FULL = made_result("made/a", solved=True, score=Score(points=50, maximum=50))
PART = made_result("made/b", score=Score(points=12.5, maximum=50))
PLAIN = made_result("made/c", solved=True)


def _run(path: Path, *results: SampleResult) -> Run:
    manifest = {
        "prompt": {"name": "default", "hash": "h"},
        "spec": RunSpec(model="made-model").model_dump(mode="json"),
        "problems": {result.problem_id: result.problem_hash for result in results},
        "created": "2026-01-01T00:00:00+00:00",
    }
    directory = RunDirectory.create(path, manifest)
    for result in results:
        directory.results.append(result)
    directory.close()
    return read_run(directory.path)


def test_a_summary_has_the_mean_share_of_problems_that_give_points(tmp_path: Path) -> None:
    summary = _run(tmp_path / "r", FULL, PART, PLAIN).summary
    assert summary.mean_score == (1 + 0.25) / 2
    assert summary.pass_at_1 is not None
    assert round(summary.pass_at_1.value * 3) == 2


def test_without_points_nothing_has_a_word_of_them(tmp_path: Path) -> None:
    run = _run(tmp_path / "r", PLAIN)
    assert "mean_score" not in run.summary.model_dump(mode="json")
    assert "score" not in (run.path / "results.jsonl").read_text()
    assert fields_of(run) == FIELDS
    assert "score" not in shown_samples(run)[0].as_json()


def test_tables_have_points_and_the_maximum(tmp_path: Path) -> None:
    run = _run(tmp_path / "r", PART, PLAIN)
    fields = fields_of(run)
    assert "score,max_score" in next(csv_text(run))
    rows = [record(run, result, fields) for result in run.results]
    assert [(row["score"], row["max_score"]) for row in rows] == [(12.5, 50), (None, None)]


def test_junit_and_show_say_the_points(tmp_path: Path) -> None:
    run = _run(tmp_path / "r", PART)
    assert "12.5 of 50 points" in "".join(junit_text(run))
    (shown,) = shown_samples(run)
    assert shown.as_json()["score"] == {"points": 12.5, "maximum": 50}
    assert any("wrong answer (12.5 of 50 points)" in cell.text for cell in shown.row.cells())


def test_a_comparison_has_points_of_both_runs(tmp_path: Path) -> None:
    solved = made_result("made/b", solved=True, score=Score(points=50, maximum=50))
    one, other = _run(tmp_path / "one", FULL, PART), _run(tmp_path / "other", FULL, solved)
    comparison = compare_runs([one, other])
    cells = {row.name: row.cells for row in rows_of(comparison)}
    assert cells["points of a full score"] == ("62.5 %", "100.0 %")
    (flip,) = comparison.versus[0].flips
    names = {flip.a.label: "one", flip.b.label: "other"}
    assert "one wrong answer, 12.5 of 50 points" in flip_words(flip, names)
    (row,) = flip_rows(comparison)
    assert (row["score_before"], row["score"]) == (12.5, 50)


def test_a_report_has_points(tmp_path: Path) -> None:
    page = report_page([_run(tmp_path / "r", FULL, PART)])
    assert "points of a full score" in page
    assert "12.5 of 50 points" in page
