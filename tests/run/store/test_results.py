import json
import os
from pathlib import Path

import pytest
from results_made import made_result

from harness.agent.attempt import LoopFacts
from harness.errors import RunDirectoryError
from harness.features.info.schema import schema_of
from harness.grading.verdict import JudgedAgain, Score
from harness.run.store.results import Columns, ResultsFile, SampleResult, line_of, read_results


def _result(index: int) -> SampleResult:
    return made_result("made/a", index=index, solved=True, code="print('\\n')", title="A")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def _write(path: Path, count: int) -> None:
    file = ResultsFile(path)
    for index in range(count):
        file.append(_result(index))
    file.close()


def test_a_written_result_is_read_back(path: Path) -> None:
    _write(path, 3)
    assert list(read_results(path)) == [_result(index) for index in range(3)]


def test_points_are_read_back_and_a_result_without_points_has_no_key_for_them(path: Path) -> None:
    some = _result(1).model_copy(update={"score": Score(points=40.5, maximum=100)})
    file = ResultsFile(path)
    for result in (_result(0), some):
        file.append(result)
    file.close()
    plain, scored = map(json.loads, path.read_text().splitlines())
    assert "score" not in plain
    assert scored["score"] == {"points": 40.5, "maximum": 100}
    assert read_results(path) == [_result(0), some]


def test_a_line_leaves_out_default_values_and_a_whole_line_is_the_same_result(path: Path) -> None:
    again = JudgedAgain(confirmed=(2, 1))
    some = _result(0).model_copy(update={"judged_again": again, "loop": LoopFacts(later=3)})
    line = json.loads(line_of(some))
    assert line["judged_again"] == {"confirmed": [2, 1]}
    assert line["loop"] == {"later": 3}
    assert line["usage"] == {"input_tokens": 1_000, "output_tokens": 100}
    assert {*line} >= {*schema_of("result")["required"]}
    assert not {*line} & {"efficiency", "steps", "cut_off", "refused", "confined", "reported"}
    path.write_bytes(line_of(some) + some.model_dump_json().encode().replace(b"#0", b"#1") + b"\n")
    short, whole = read_results(path)
    assert short == some == whole.model_copy(update={"sample": some.sample})


def test_fields_of_results_as_columns() -> None:
    results = [_result(index) for index in (3, 5, 9)]
    columns = Columns(results)
    assert columns["index"] == (3, 5, 9)
    assert columns["usage"] == tuple(result.usage for result in results)
    assert columns.at("problem_id", [2, 0]) == ["made/a", "made/a"]
    assert columns.at("index", [2, 0]) == [9, 3]
    assert columns.total("index") == 17
    for key in SampleResult.model_fields:
        assert columns[key] == tuple(getattr(result, key) for result in results)
    assert [*columns.rows("index", "problem_id", places=[1])] == [(5, "made/a")]
    nothing = Columns([])
    assert (nothing["index"], nothing.total("index"), [*nothing.rows("index")]) == ((), 0, [])


@pytest.mark.parametrize("torn", [1, 2, 50, 300])
def test_a_torn_last_line_is_no_commit_and_is_cut_off(path: Path, torn: int) -> None:
    _write(path, 3)
    path.write_bytes(path.read_bytes()[:-torn])
    assert [result.index for result in read_results(path)] == [0, 1]
    file = ResultsFile(path)
    file.append(_result(7))
    file.close()
    assert [result.index for result in read_results(path)] == [0, 1, 7]


def test_a_torn_first_line_leaves_nothing(path: Path) -> None:
    path.write_bytes(b"{" * 200_000)
    file = ResultsFile(path)
    file.append(_result(0))
    file.close()
    assert [result.index for result in read_results(path)] == [0]


def test_a_run_has_one_writer(path: Path) -> None:
    first = ResultsFile(path)
    with pytest.raises(RunDirectoryError, match="another process"):
        ResultsFile(path)
    first.close()
    ResultsFile(path).close()


def test_a_line_that_is_no_result_is_named(path: Path) -> None:
    _write(path, 1)
    with path.open("ab") as file:
        file.write(b'{"sample": 1}\n')
    with pytest.raises(RunDirectoryError, match=r"results\.jsonl:2"):
        list(read_results(path))


def test_a_commit_is_on_the_disk_before_it_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (real(file), synced.append(path.stat().st_size)))
    file = ResultsFile(path)
    file.append(_result(0))
    file.close()
    assert synced == [path.stat().st_size]
