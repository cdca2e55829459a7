"""Examples read off statements are run by their problem's own solution before they judge."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.grading.example_check import (
    FILE,
    OPTIONS,
    ExampleCheck,
    KnownChecks,
    Vetted,
    VettingError,
)
from harness.grading.jobs import Judged, Options, judge_all
from harness.grading.judge import judge
from harness.grading.verdict import Grade, Verdict
from harness.problem import Problem
from harness.sandbox.pool import SandboxPool
from harness.sources.files.rows import open_rows
from harness.sources.leetcode.leetcode import read_rows

RIGHT = "**Input:** n = 2\n**Output:** 4\n\n"
WRONG = "**Input:** n = 3\n**Output:** 7\n\n"
FINE = "**Input:** n = 5\n**Output:** 10\n\n"
DOUBLE = "def double(n):\n    return 2 * n\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., list[Problem]]:
    """Problems of rows, each given as a slug, a statement and a solution."""

    def load_rows(*rows: tuple[str, str, str]) -> list[Problem]:
        path = tmp_path / "rows.jsonl"
        lines = [
            {
                "id": number,
                "slug": slug,
                "title": slug,
                "difficulty": "Easy",
                "content": statement,
                "python": f"```python\n{code}```",
            }
            for number, (slug, statement, code) in enumerate(rows, 1)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return list(read_rows(map(open_rows, [path])).problems)

    return load_rows


Load = Callable[..., list[Problem]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vetted"


def vet(problems: Sequence[Problem], memory: KnownChecks) -> Vetted:
    """With a real sandbox, started if there is anything to run."""
    vetting = ExampleCheck(problems, memory)

    async def run() -> None:
        async with SandboxPool(workers=1) as pool:
            await judge_all(pool, vetting.jobs, OPTIONS, vetting.keep)

    if vetting.jobs:
        asyncio.run(run())
    return vetting.vetted()


def outputs(problem: Problem) -> list[str]:
    return [test.output for test in problem.tests.all()]


def test_a_wrong_example_is_dropped_and_right_ones_are_kept(load: Load, folder: Path) -> None:
    (problem,) = load(("double", RIGHT + WRONG + FINE, DOUBLE))
    assert outputs(problem) == ["4", "7", "10"]
    vetted = vet([problem], KnownChecks(folder))
    (checked,) = vetted.problems
    assert outputs(checked) == ["4", "10"]
    assert not checked.unchecked
    assert (vetted.examples, vetted.dropped, vetted.shortened, vetted.emptied) == (3, 1, 1, 0)
    assert [each.code for each in checked.load_references()] == [DOUBLE]


@pytest.mark.parametrize(
    "code",
    [
        "def double(n):\n    return n.twice\n",
        "def double(n):\n    return 0\n",
        "import os\ndef double(n):\n    os._exit(0)\n",
        "def double(n):\n    return 2 * n\nraise SystemExit\n",
    ],
)
def test_a_problem_whose_solution_passes_no_example_has_no_tests(
    load: Load, folder: Path, code: str
) -> None:
    vetted = vet(load(("double", RIGHT + FINE, code)), KnownChecks(folder))
    (problem,) = vetted.problems
    assert problem.tests.all() == ()
    assert (vetted.dropped, vetted.emptied) == (2, 1)


def test_a_solution_that_crashes_on_one_example_keeps_the_others(load: Load, folder: Path) -> None:
    code = "import os\ndef double(n):\n    if n == 3:\n        os._exit(1)\n    return 2 * n\n"
    (problem,) = vet(load(("double", RIGHT + WRONG + FINE, code)), KnownChecks(folder)).problems
    assert outputs(problem) == ["4", "10"]


def test_the_content_hash_says_which_examples_were_kept(load: Load, folder: Path) -> None:
    (problem,) = load(("double", RIGHT + WRONG, DOUBLE))
    hashes = {problem.content_hash}
    for kept in ((0, 1), (0,), (1,), ()):
        memory = KnownChecks(folder / str(kept))
        vetting = ExampleCheck([problem], memory)
        (job,) = vetting.jobs
        vetting.keep(Judged(job.number, grade_of(problem, kept)))
        hashes.add(vetting.vetted().problems[0].content_hash)
    assert len(hashes) == 5


def grade_of(problem: Problem, passed: Sequence[int]) -> Grade:
    """A real grade, made to have passed some tests."""

    async def run() -> Grade:
        async with SandboxPool(workers=1) as pool:
            task = OPTIONS.task(problem, DOUBLE, problem.tests.all())
            return await pool.call(lambda worker: judge(worker, task))

    grade = asyncio.run(run())
    tests = tuple(
        test.model_copy(
            update={
                "verdict": Verdict.ACCEPTED if test.index in passed else Verdict.WRONG_ANSWER,
            }
        )
        for test in grade.tests
    )
    return grade.model_copy(update={"tests": tests})


def test_what_is_not_unchecked_is_left_alone(load: Load, folder: Path) -> None:
    (problem,) = load(("double", RIGHT + WRONG, DOUBLE))
    checked = problem.model_copy(update={"unchecked": False})
    vetting = ExampleCheck([checked], KnownChecks(folder))
    assert vetting.jobs == []
    vetted = vetting.vetted()
    assert vetted.problems[0] is checked
    assert (vetted.examples, vetted.dropped) == (0, 0)


def test_a_problem_without_a_solution_that_can_be_run_has_no_tests(
    load: Load, folder: Path
) -> None:
    (problem,) = load(("double", RIGHT, DOUBLE))
    vetting = ExampleCheck(
        [problem.model_copy(update={"load_references": tuple})], KnownChecks(folder)
    )
    assert vetting.jobs == []
    assert vetting.vetted().problems[0].tests.all() == ()


class TestSandboxFailures:
    def test_they_are_errors_and_no_verdict_on_examples(self, load: Load, folder: Path) -> None:
        vetting = ExampleCheck(load(("double", RIGHT, DOUBLE)), KnownChecks(folder))
        failed = Judged(0, Grade(verdict=Verdict.SANDBOX_ERROR), "no process can be made")
        message = "examples of leetcode/double could not be checked: no process can be made"
        with pytest.raises(VettingError, match=message):
            vetting.keep(failed)
        assert len(ExampleCheck(load(("double", RIGHT, DOUBLE)), KnownChecks(folder)).jobs) == 1

    def test_examples_that_were_not_judged_are_never_taken_for_dropped(
        self, load: Load, folder: Path
    ) -> None:
        vetting = ExampleCheck(load(("double", RIGHT, DOUBLE)), KnownChecks(folder))
        with pytest.raises(RuntimeError, match="have not been checked"):
            vetting.vetted()


class TestMemory:
    def test_what_was_found_is_not_run_again(self, load: Load, folder: Path) -> None:
        problems = load(("double", RIGHT + WRONG, DOUBLE), ("bad", FINE, "def bad(n): pass\n"))
        assert len(ExampleCheck(problems, KnownChecks(folder)).jobs) == 2
        first = vet(problems, KnownChecks(folder))
        again = ExampleCheck(problems, KnownChecks(folder))
        assert again.jobs == []  # and so no sandbox is started
        assert again.vetted() == first
        assert [outputs(problem) for problem in first.problems] == [["4"], []]

    @pytest.mark.parametrize(
        ("statement", "code"),
        [
            (RIGHT + WRONG + FINE, DOUBLE),
            (RIGHT + WRONG, DOUBLE + "\n"),
        ],
    )
    def test_another_statement_or_solution_is_checked_anew(
        self, load: Load, folder: Path, statement: str, code: str
    ) -> None:
        vet(load(("double", RIGHT + WRONG, DOUBLE)), KnownChecks(folder))
        assert len(ExampleCheck(load(("double", statement, code)), KnownChecks(folder)).jobs) == 1

    def test_another_version_checks_anew(
        self, load: Load, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        problems = load(("double", RIGHT, DOUBLE))
        vet(problems, KnownChecks(folder))
        monkeypatch.setattr("harness.grading.example_check.__version__", "other")
        assert len(ExampleCheck(problems, KnownChecks(folder)).jobs) == 1

    def test_a_torn_line_is_passed_over_and_what_follows_is_not_lost(
        self, load: Load, folder: Path
    ) -> None:
        problems = load(("double", RIGHT, DOUBLE))
        folder.mkdir(parents=True)
        (folder / FILE).write_bytes(b'\xff{"key": "x", "kept": [')
        vet(problems, KnownChecks(folder))
        assert ExampleCheck(problems, KnownChecks(folder)).jobs == []

    def test_a_folder_that_cannot_be_used_is_warned_of_and_costs_nothing_else(
        self, load: Load, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        memory = KnownChecks(tmp_path / "file" / "vetted")
        problems = load(("double", RIGHT + WRONG, DOUBLE), ("more", FINE, "def f(n): return 10\n"))
        vetted = vet(problems, memory)
        assert [outputs(problem) for problem in vetted.problems] == [["4"], ["10"]]
        assert memory.warning.startswith(f"{tmp_path / 'file' / 'vetted' / FILE} cannot be used")
        assert "\n" not in memory.warning


def test_the_limits_are_the_source_s_own(load: Load) -> None:
    (problem,) = load(("double", RIGHT, DOUBLE))
    assert OPTIONS.limits(problem) == Options().limits(problem)
    assert replace(OPTIONS, stop=Options().stop) == Options()
