"""Grading real rows: verdicts that others published, and the data's own references."""

import asyncio
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines

from harness.features.grade.grades import GradedSolution, graded_solution
from harness.features.grade.solution_readers import read_solutions
from harness.features.grade.solutions import jobs_of, match
from harness.features.verify.library import finding
from harness.features.verify.verification import (
    VerifiedProblem,
    list_references,
    reference_jobs,
    verified,
)
from harness.grading.jobs import Judged, Options, judge_all
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.sandbox.pool import SandboxPool
from harness.sources.benchmarks import load

PUBLISHED = {True: "accepted", False: "wrong_answer", -1: "runtime_error", -2: "compile_error"}


def grade(spec: str, rows: Iterable[dict[str, Any]], path: Path, cpu_s: float) -> list[Any]:
    path.write_text(json_lines(rows))
    matched, unmatched = match(read_solutions(path), load(spec).problems, "harness")
    assert unmatched == []
    judged = judge(jobs_of(matched), Options(cpu_s=cpu_s))
    return [graded_solution(each, judged[number]) for number, each in enumerate(matched)]


def judge(jobs: Any, options: Options) -> dict[int, Judged]:
    judged: dict[int, Judged] = {}

    async def run() -> None:
        async with SandboxPool() as pool:
            await judge_all(pool, jobs, options, lambda each: judged.update({each.number: each}))

    asyncio.run(run())
    return judged


def differing(graded: Iterable[GradedSolution]) -> list[tuple[str, int, str]]:
    return [(g.problem_id, g.index, g.verdict) for g in graded if not g.agrees]


def verify(problems: Iterable[Problem], references: int) -> list[VerifiedProblem]:
    listed = list_references(list(problems), references, Options())
    jobs = reference_jobs(listed)
    judged = judge(jobs, Options())
    findings = {job.key: finding(judged[job.number]) for job in jobs}
    return verified(listed, findings, Options())


def test_graded_generations_of_livecodebench(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "lcb_codegen_full184"
    lines = gzip.decompress((folder / "graded_generations.jsonl.gz").read_bytes()).splitlines()
    problems = load(f"livecodebench:{folder}/test_small.jsonl").problems
    small = {problem.native_id for problem in problems}
    rows = [row for row in map(json.loads, lines) if row["question_id"] in small]
    spec = f"livecodebench:{folder}/test_small.jsonl"
    graded = grade(spec, rows[::40], tmp_path / "s", cpu_s=6)
    assert len(graded) > 25
    assert differing(graded) == []


def test_graded_generations_of_apps_and_their_error_classes(
    test_data: Path, tmp_path: Path
) -> None:
    folder = test_data / "apps_coderl_raw" / "train"
    rows = [
        {
            "problem_id": str(int(path.parent.name)),
            "code": row["code"],
            "verdict": PUBLISHED[row["result"]],
        }
        for path in sorted(folder.glob("*/gen_solutions.json"))
        for row in json.loads(path.read_text())
    ]
    graded = grade(f"apps:{folder}", rows, tmp_path / "s", cpu_s=0.7)
    assert len(graded) == 83
    assert differing(graded) == []
    # Upstream names a solution's worst test and knows no time limit.
    other = {
        (str(g.published.verdict), str(g.verdict))
        for g in graded
        if g.published and g.published.verdict is not g.verdict
    }
    assert other == {
        ("runtime_error", "time_limit"),
        ("runtime_error", "wrong_answer"),
        ("compile_error", "runtime_error"),
    }


def test_apps_references_get_their_published_verdicts(test_data: Path) -> None:
    folder = test_data / "apps_codechain_minival"
    lines = (folder / "reference_solution_check.jsonl").read_text().splitlines()
    checks = {(str(c["problem_id"]), c["solution_index"]): c for c in map(json.loads, lines)}
    problems = load(f"apps:{folder}/i*.jsonl").problems[::7]
    compared = [
        (
            problem.problem_id,
            reference.index,
            reference.verdict is Verdict.ACCEPTED,
            check["status"],
        )
        for problem in verify(problems, 3)
        for reference in problem.references
        if (check := checks.get((problem.problem_id.partition("/")[2], reference.index)))
    ]
    assert len(compared) > 30
    assert [c for c in compared if c[2] != (c[3] in {"exact", "lines", "float"})] == []


@pytest.mark.thorough
def test_leetcodedataset_references_pass(test_data: Path) -> None:
    path = test_data / "leetcodedataset" / "LeetCodeDataset-v0.3.1-test.jsonl.gz"
    verification = verify(load(f"leetcodedataset:{path}").problems[6::19], 1)
    assert [problem.problem_id for problem in verification if problem.unsound] == []
    assert sum(problem.tests or 0 for problem in verification) > 1_000
