"""`/metrics` in Prometheus's text format, and `/health`."""

import re

from judge_server import JudgeServer

from harness.features.serve.work import BOUNDS_S, Metrics
from harness.version import __version__

SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')


def value(text: str, name: str) -> float:
    (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.rpartition(" ")[2])


def test_each_line_is_a_comment_or_a_sample(judge: JudgeServer) -> None:
    judge.run_code("print(1)")
    answer = judge.client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    for line in answer.text.splitlines():
        assert re.match(r"# (HELP|TYPE) [a-z_]+ \S", line) or SAMPLE.fullmatch(line), line


def test_metrics_count_what_was_done(judge: JudgeServer) -> None:
    names = (
        'harness_requests_total{path="/grade",status="200"}',
        'harness_verdicts_total{path="/grade",verdict="wrong_answer"}',
        "harness_work_seconds_count",
        "harness_wait_seconds_count",
    )
    judge.grade(problem="echo", code="print(1)")
    before = judge.client.get("/metrics").text
    judge.grade(problem="echo", code="print(1)")
    after = judge.client.get("/metrics").text
    for name in names:
        assert value(after, name) == value(before, name) + 1
    cpu = "harness_program_cpu_seconds_total"
    assert value(after, cpu) > value(before, cpu)
    assert value(after, "harness_slots") == 2
    assert value(after, "harness_work_running") == 0


def test_paths_that_are_none_make_no_series(judge: JudgeServer) -> None:
    for name in ("a", "b"):
        judge.client.get(f"/{name}")
    assert 'path="/a"' not in judge.client.get("/metrics").text


def test_a_histogram_is_cumulative() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.005, 0.3, 1_000.0):
        metrics.done(seconds, failed=False)
    text = metrics.text({})
    assert value(text, 'harness_work_seconds_bucket{le="0.005"}') == 2
    assert value(text, 'harness_work_seconds_bucket{le="0.5"}') == 3
    assert value(text, f'harness_work_seconds_bucket{{le="{BOUNDS_S[-1]}"}}') == 3
    assert value(text, 'harness_work_seconds_bucket{le="+Inf"}') == 4
    assert value(text, "harness_work_seconds_sum") == 1_000.306


def test_health_has_status_version_and_problems(judge: JudgeServer) -> None:
    health = judge.client.get("/health").json()
    assert (health["status"], health["version"], health["problems"]) == ("ok", __version__, 3)
