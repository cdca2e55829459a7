"""Published LiveCodeBench verdicts: the judge agrees with upstream's."""

import gzip
import json
from pathlib import Path

import pytest

from harness.grading.judge import judge
from harness.grading.task import Task
from harness.sandbox.limits import limits_of
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import load

SAMPLE = 25


@pytest.fixture(scope="module")
def published(test_data: Path) -> dict[str, tuple[str, bool]]:
    """o1-mini's solution and its verdict, by question."""
    (path,) = (test_data / "lcb_evals").glob("o1-mini*_eval_all.json.gz")
    rows = json.loads(gzip.decompress(path.read_bytes()))
    return {row["question_id"]: (row["code_list"][0], row["graded_list"][0]) for row in rows}


def test_the_judge_agrees_with_published_verdicts(
    worker: Worker, test_data: Path, published: dict[str, tuple[str, bool]]
) -> None:
    problems = load(f"livecodebench:{test_data}/lcb_codegen_full184/test_small.jsonl").problems
    known = [problem for problem in problems if problem.native_id in published]
    failed = [problem for problem in known if not published[problem.native_id][1]]
    passed = [problem for problem in known if published[problem.native_id][1]]
    sample = failed[:8] + passed[:: len(passed) // SAMPLE][: SAMPLE - len(failed[:8])]
    assert len(sample) == SAMPLE
    disagree: list[str] = []
    for problem in sample:
        code, verdict = published[problem.native_id]
        program = Program(code, problem.preamble, problem.entry_point, problem.signature)
        limits = limits_of("livecodebench")
        grade = judge(worker, Task(program, problem.tests.all(), limits, problem.rule))
        if grade.solved is not verdict:
            disagree.append(f"{problem.id}: {grade.verdict}, published {verdict}")
    assert disagree == []
