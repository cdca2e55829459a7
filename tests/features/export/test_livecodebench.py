"""LiveCodeBench's files, in upstream's shape and read back by us."""

import gzip
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from program import harness

from harness.agent.attempt import StopReason
from harness.errors import UsageError
from harness.features.export.livecodebench import LiveCodeBenchFiles
from harness.features.grade.solution_readers import read_solutions
from harness.grading.verdict import Verdict
from harness.problem import Kind, Problem, TestSuite
from harness.run.store.results import SampleResult, TestOutcome
from harness.run.summary.loaded_run import Run

MakeResult = Callable[..., SampleResult]
MakeRun = Callable[..., Run]
KEYS = [
    *("question_title", "question_content", "platform", "question_id", "contest_id"),
    *("contest_date", "starter_code", "difficulty", "output_list", "code_list"),
    *("graded_list", "pass@1", "metadata"),
]


def _problem(problem_id: str, **changes: Any) -> Problem:
    plain = Problem(
        id=problem_id,
        source="made",
        title="A title",
        statement="A statement.",
        platform="atcoder",
        difficulty="easy",
        difficulty_word="easy",
        release_date=date(2025, 1, 2),
        tests=TestSuite(()),
        content_hash="",
    )
    return plain.model_copy(update=changes)


def _tests(*verdicts: Verdict) -> tuple[TestOutcome, ...]:
    return tuple(TestOutcome(verdict=v, public=True, cpu_s=0.1, wall_s=0.2) for v in verdicts)


@pytest.fixture(scope="session")
def exported(recorded_run: Path) -> Path:
    done = harness(recorded_run, "export", "agentic", "--to", "lcb", "-o", "lcb")
    assert done.returncode == 0, done.stderr
    return recorded_run / "lcb"


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_the_export_has_upstream_s_three_files(exported: Path) -> None:
    stem = "Scenario.codegeneration_1"
    names = {f"{stem}.json", f"{stem}_eval.json", f"{stem}_eval_all.json"}
    assert {path.name for path in exported.iterdir()} == names
    outputs, everything = (
        _read(exported / f"{stem}.json"),
        _read(exported / f"{stem}_eval_all.json"),
    )
    assert [list(item) for item in outputs] == [KEYS[:-3]] * 20
    assert [list(item) for item in everything] == [KEYS] * 20
    assert [item["question_id"] for item in everything] == sorted(
        item["question_id"] for item in everything
    )


@pytest.mark.thorough
def test_every_value_is_of_the_type_that_upstreams_has(exported: Path, test_data: Path) -> None:
    name = "o1-mini-2024-09-12_N1_v5_880_eval_all.json.gz"
    theirs = json.loads(gzip.decompress((test_data / "lcb_evals" / name).read_bytes()))
    ours = _read(exported / "Scenario.codegeneration_1_eval_all.json")

    def shape(item: dict[str, Any]) -> dict[str, Any]:
        return {
            key: [type(each).__name__ for each in value] if isinstance(value, list) else type(value)
            for key, value in item.items()
        }

    assert {str(shape(item)) for item in ours} == {str(shape(item)) for item in theirs}
    # What is known of a failure has their columns, by its code.
    known: dict[Any, set[tuple[str, ...]]] = {}
    for item in theirs:
        for text in item["metadata"]:
            data = json.loads(text)
            known.setdefault(data.get("error_code"), set()).add(tuple(sorted(data)))
    for item in ours:
        for text in item["metadata"]:
            data = json.loads(text)
            code = data.get("error_code")
            assert code in known
            assert tuple(sorted(data)) in known[code]


@pytest.mark.thorough
def test_we_read_it_back_and_agree_with_ourselves(exported: Path, recorded_run: Path) -> None:
    path = exported / "Scenario.codegeneration_1_eval_all.json"
    solutions = read_solutions(path)
    assert len(solutions) == 20
    done = harness(recorded_run, "grade", "--problems", "fixture", "--solutions", path, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["summary"]["pass_at_1"]["value"] == 0.75
    published = {s.name: s.published.passed for s in solutions if s.published}
    assert len(published) == 20
    for result in data["results"]:
        name = result["problem_id"].removeprefix("fixture/")
        assert (result["verdict"] == "accepted") is published[name]


def test_code_that_a_tool_handed_in_is_found_in_the_words_by_their_rule(exported: Path) -> None:
    for item in _read(exported / "Scenario.codegeneration_1.json"):
        for output, code in zip(item["output_list"], item["code_list"], strict=True):
            fences = [n for n, line in enumerate(output.split("\n")) if "```" in line]
            between = output.split("\n")[fences[-2] + 1 : fences[-1]] if len(fences) > 1 else []
            if code:
                assert "\n".join(between).strip() == code.strip()


def test_exported_metrics_equal_upstream_s(
    make_run: MakeRun, make_result: MakeResult, test_data: Path
) -> None:
    stem = test_data / "lcb_evals" / "Qwen2.5-Coder-Ins-7B_codegeneration_10_0.2_eval"
    metrics = json.loads(gzip.decompress(Path(f"{stem}.json.gz").read_bytes()))[0]
    items = json.loads(gzip.decompress(Path(f"{stem}_all.json.gz").read_bytes()))
    names = {item["question_id"] for item in items}
    results = [
        make_result(f"lcb/{item['question_id']}", index=index, solved=passed)
        for item in items
        for index, passed in enumerate(item["graded_list"])
    ]
    problems = {f"lcb/{name}": _problem(f"lcb/{name}") for name in names}
    run = make_run(results, samples_per_problem=10)
    ours = LiveCodeBenchFiles(run, problems).metrics()[0]
    assert set(ours) == set(metrics)
    for name in ("pass@1", "pass@5", "pass@10"):
        assert ours[name] == pytest.approx(metrics[name], abs=1e-12)
        assert set(ours["detail"][name]) == set(metrics["detail"][name])
        for place, value in metrics["detail"][name].items():
            assert ours["detail"][name][place] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("verdict", "entry_point", "expected"),
    [
        (Verdict.WRONG_ANSWER, None, (-2, "Wrong Answer")),
        (Verdict.WRONG_ANSWER, "f", (False, "Wrong Answer")),
        (Verdict.TIME_LIMIT, None, (-3, "Time Limit Exceeded")),
        (Verdict.RUNTIME_ERROR, None, (-4, "Runtime Error")),
        (Verdict.MEMORY_LIMIT, None, (-4, "Runtime Error")),
        (Verdict.COMPILE_ERROR, None, (-4, "Error during testing: no code was found")),
    ],
)
def test_verdicts_are_upstreams_numbers(
    make_run: MakeRun,
    make_result: MakeResult,
    verdict: Verdict,
    entry_point: str | None,
    expected: tuple[int, str],
) -> None:
    number, message = expected
    tests = _tests(Verdict.ACCEPTED, verdict, Verdict.ACCEPTED)
    run = make_run([make_result("made/a_b", verdict=verdict, tests=tests, code="x = 1")])
    files = LiveCodeBenchFiles(run, {"made/a_b": _problem("made/a_b", entry_point=entry_point)})
    _, results, metadata = files.metrics()
    assert results == {"0": [[True, number]]}
    assert type(results["0"][0][1]) is type(number)
    assert json.loads(metadata[0][0])["error_message"] == message
    (item,) = files.evaluated()
    assert (item["graded_list"], item["pass@1"], item["contest_id"]) == ([False], 0.0, "a")
    assert item["contest_date"] == "2025-01-02T00:00:00"
    assert item["output_list"] == ["```python\nx = 1\n```"]


def test_what_was_not_graded_has_no_verdict(make_run: MakeRun, make_result: MakeResult) -> None:
    results = [
        make_result("made/a", solved=True),
        make_result("made/b", verdict=Verdict.UNGRADED, stop_reason=StopReason.MODEL_STOPPED),
    ]
    files = LiveCodeBenchFiles(
        make_run(results), {name: _problem(name) for name in ("made/a", "made/b")}
    )
    assert [list(item) for item in files.evaluated()] == [KEYS, KEYS[:-3]]
    metrics, results_by_place, _ = files.metrics()
    assert metrics["pass@1"] == 1.0
    assert list(results_by_place) == ["0"]


def test_a_problem_that_is_gone_or_no_program_is_refused(
    make_run: MakeRun, make_result: MakeResult
) -> None:
    run = make_run([make_result("made/a")])
    with pytest.raises(UsageError, match="made/a is no longer among"):
        LiveCodeBenchFiles(run, {})
    other = _problem("made/a", kind=Kind.CODE_EXECUTION)
    with pytest.raises(UsageError, match="asks for a value"):
        LiveCodeBenchFiles(run, {"made/a": other})


@pytest.mark.parametrize(("temperature", "end"), [(None, ""), (0.0, "_0.0"), (0.7, "_0.7")])
def test_a_file_is_named_by_the_temperature_that_was_set(
    make_run: MakeRun, make_result: MakeResult, temperature: float | None, end: str
) -> None:
    run = make_run([make_result("made/a")], temperature=temperature)
    files = LiveCodeBenchFiles(run, {"made/a": _problem("made/a")})
    assert files.name == f"Scenario.codegeneration_1{end}"
