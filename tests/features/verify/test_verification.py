"""Verifying many references: read once a problem, and never all at once."""

import asyncio

import pytest

from harness.features.verify.library import finding
from harness.features.verify.verification import list_references, reference_jobs, verified
from harness.grading.jobs import Judged, Options, judge_all
from harness.grading.verdict import Verdict
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sandbox.pool import SandboxPool

pytestmark = pytest.mark.usefixtures("kept_sandbox")

CODES = ("print(input())", "print(1)", "print( input() )")


class Data:
    """A problem's row, which counts how often it is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes = CODES
        self.reads = self.tests = 0

    def references(self) -> tuple[Reference, ...]:
        self.reads += 1
        java = Reference(code="class A {}", language="java")
        return (java, *(Reference(code=code) for code in self.codes))

    def hidden(self) -> tuple[TestCase, ...]:
        self.tests += 1
        return (TestCase(input="2", output="2", public=False),)

    def problem(self) -> Problem:
        return Problem(
            id=f"own/{self.name}",
            source="own",
            title="",
            statement="",
            platform="",
            difficulty=None,
            difficulty_word="",
            tests=TestSuite((), self.hidden),
            load_references=self.references,
            content_hash=self.name,
        )


@pytest.fixture
def data() -> list[Data]:
    return [Data("a"), Data("b")]


def judged_of(jobs: list[object]) -> dict[int, Judged]:
    judged: dict[int, Judged] = {}

    async def judge() -> None:
        async with SandboxPool(workers=2) as pool:
            keep = lambda each: judged.update({each.number: each})  # noqa: E731
            await judge_all(pool, jobs, Options(), keep)  # type: ignore[arg-type]

    asyncio.run(judge())
    return judged


def test_a_row_is_read_once_to_list_and_once_to_judge(data: list[Data]) -> None:
    listed = list_references([each.problem() for each in data], None, Options())
    assert [(each.available, len(each.keys)) for each in listed] == [(3, 3), (3, 3)]
    assert [each.reads for each in data] == [1, 1]
    jobs = reference_jobs(listed)
    assert [each.reads for each in data] == [1, 1]
    judged = judged_of(list(jobs))
    assert [(each.reads, each.tests) for each in data] == [(2, 1), (2, 1)]
    findings = {job.key: finding(judged[job.number]) for job in jobs}
    for problem in verified(listed, findings, Options()):
        assert [each.verdict for each in problem.references] == [
            Verdict.ACCEPTED,
            Verdict.WRONG_ANSWER,
            Verdict.ACCEPTED,
        ]


def test_reference_jobs_hold_no_code(data: list[Data]) -> None:
    jobs = reference_jobs(list_references([data[0].problem()], None, Options()))
    assert not any(code in repr(job) for job in jobs for code in CODES)


def test_known_verdicts_are_no_jobs_and_are_not_read(data: list[Data]) -> None:
    listed = list_references([each.problem() for each in data], None, Options())
    known = set(listed[0].keys) | {listed[1].keys[0]}
    jobs = reference_jobs(listed, known)
    assert [job.key for job in jobs] == list(listed[1].keys[1:])
    judged = judged_of(list(jobs))
    assert [judged[n].grade.verdict for n in range(2)] == [Verdict.WRONG_ANSWER, Verdict.ACCEPTED]
    assert [each.reads for each in data] == [1, 2]


def test_a_reference_that_changes_under_way_gets_no_verdict(data: list[Data]) -> None:
    jobs = reference_jobs(list_references([data[0].problem()], None, Options()))
    data[0].codes = ("print(3)", "print(1)")
    judged = judged_of(list(jobs))
    assert [judged[n].grade.verdict for n in range(3)] == [
        Verdict.CHECKER_ERROR,
        Verdict.WRONG_ANSWER,
        Verdict.CHECKER_ERROR,
    ]
    assert "own/a: reference 0 has changed" in judged[0].cause
