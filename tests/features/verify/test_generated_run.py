"""Cross-checking many problems: what infrastructure stops stops no other, and is no verdict."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import DataError
from harness.features.verify.generated import CrossChecked, cross_check_all, summarize_cross_checks
from harness.grading.jobs import Options
from harness.problem import Problem, Reference
from harness.sandbox.pool import SandboxPool
from harness.sources.mercury import load

SUM = "class Solution:\n    def solve(self, nums): return sum(nums)"
OTHER = "class Solution:\n    def solve(self, nums): return sum(nums) + len(nums) // 30"
MADE = "def generate_test_case():\n    return [[1] * random.randint({})]"


@pytest.fixture
def problem(tmp_path: Path) -> Callable[..., Problem]:
    def problem(sizes: str, *references: str) -> Problem:
        row = {
            "slug_name": "p",
            "entry_point": "solve",
            "convert_offline": "def convert_offline(case): return case",
            "evaluate_offline": "def evaluate_offline(i, o, e): return o == e",
            "test_cases": '[{"input": [[1, 2]], "expected": 3}]',
            "solutions": [{"solution": code} for code in references],
            "generator_code": MADE.format(sizes),
        }
        path = tmp_path / "mercury.jsonl"
        path.write_text(json.dumps(row) + "\n")
        return load(str(path)).problems[0]

    return problem


def cross_check(
    problems: list[Problem], options: Options | None = None, inputs: int = 4
) -> dict[int, CrossChecked]:
    found: dict[int, CrossChecked] = {}

    async def run() -> None:
        async with SandboxPool(workers=2) as pool:
            how = options or Options()
            await cross_check_all(pool, problems, how, found.__setitem__, inputs=inputs)

    asyncio.run(run())
    return found


def unreadable() -> tuple[Reference, ...]:
    raise DataError("rows.jsonl:1", None, "no longer the row that was loaded")


def test_data_that_cannot_be_read_any_more_stop_no_other(problem: Callable[..., Problem]) -> None:
    good = problem("1, 9", SUM, SUM)
    problems = [good.model_copy(update={"load_references": unreadable}), good]
    found = cross_check(problems)
    assert found[0].infrastructure
    assert found[0].failure == "rows.jsonl:1: no longer the row that was loaded"
    assert (found[0].tried, found[0].disagree) == (0, False)
    assert (found[1].tried, found[1].infrastructure) == (4, False)
    summary = summarize_cross_checks(problems, found)
    assert (summary.infrastructure, summary.checked, summary.too_few_references) == (1, 2, ())


def test_a_sandbox_that_fails_is_no_fault_of_generator_or_reference(
    problem: Callable[..., Problem],
) -> None:
    beyond = Options(memory_bytes=1 << 80)  # that no process can be limited to
    (found,) = cross_check([problem("1, 9", SUM, OTHER)], beyond).values()
    assert "set up" in found.failure
    assert found.infrastructure
    assert (found.generator_fails, found.disagreements) == (None, ())


def test_from_batch_to_batch_equal_inputs_are_one(problem: Callable[..., Problem]) -> None:
    (found,) = cross_check([problem("28, 31", SUM, OTHER)], inputs=90).values()
    assert (found.tried, found.made, found.different, found.compared) == (90, 90, 4, 4)
    (one,) = found.disagreements
    assert one.inputs == 2
    assert len(json.loads(one.input)) in {30, 31}


def test_references_in_other_languages_are_not_counted(problem: Callable[..., Problem]) -> None:
    mixed = (
        Reference(code="class A {}", language="java"),
        Reference(code=SUM),
        Reference(code=OTHER),
    )
    some = problem("30, 31").model_copy(update={"load_references": lambda: mixed})
    (found,) = cross_check([some]).values()
    assert found.references == 2
    assert [each.reference for each in found.disagreements] == [1]
