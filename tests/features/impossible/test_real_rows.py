"""No change of a real problem's test is passed by a right solution: a thousand of them.

LiveCodeBench's rows have no references: the published answers that pass all tests stand in for
them. HumanEval's tests are code, which is never changed; its assertions of a literal are read as
tests of a value here, so that its reference solutions can be asked too.
"""

import ast
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.agent.extraction.code import extract
from harness.features.impossible.changed_tests import TestChange
from harness.features.impossible.choice import Choice
from harness.features.impossible.fitness import rule_refuses, unfit
from harness.grading.jobs import Judgement, Options
from harness.grading.stop import Stop
from harness.grading.verdict import Verdict
from harness.problem import Problem, TestSuite
from harness.sandbox.executor import Executor, Shared, Where
from harness.sandbox.strongest import choose

pytestmark = pytest.mark.thorough

OPTIONS = Options(stop=Stop.NEVER)
MOST_CHANGES = 8  # of a problem
MOST_SOLUTIONS = 6
NOT_IN_THE_DATA = "no hidden test"


def changes(problem: Problem) -> list[TestChange]:
    return list(islice(Choice(OPTIONS, "oneoff", 0).proposals(problem), MOST_CHANGES))


def with_hidden(problem: Problem) -> Problem:
    """Return the problem as it is with the hidden tests that these rows lack."""
    return problem.model_copy(
        update={"tests": TestSuite(problem.tests.public, lambda: problem.tests.public)}
    )


def test_every_livecodebench_change_is_refused_by_the_rule(test_data: Path) -> None:
    """All 1,055 rows; more than half of them are fit for a change."""
    folder = test_data / "lcb_codegen_public1055"
    problems = harness.load_problems(f"livecodebench:{folder}/test_*")
    fit = [each for each in problems if unfit(with_hidden(each), OPTIONS) is None]
    problem_changes = [(each, change) for each in fit for change in changes(each)]
    assert len(problems) == 1_055
    assert len(fit) > 500
    assert len(problem_changes) >= 1_000
    for problem, change in problem_changes:
        assert rule_refuses(problem, OPTIONS, change.before, change.after), problem.id


async def test_no_right_solution_passes_a_changed_test(test_data: Path) -> None:
    """At least a thousand changes of LiveCodeBench's and HumanEval's problems."""
    jobs = [*_livecodebench(test_data), *_humaneval(test_data)]
    asked = faulty = 0
    async with Where(workers=2).open(choose().isolation, print) as pool:
        for problem, test_changes, solutions in jobs:
            passes = [await _passes(pool, problem, test_changes, code) for code in solutions]
            known = [each for each in passes if each is not None]
            asked += len(test_changes) if known else 0
            faulty += sum(any(column) for column in zip(*known, strict=True))
    assert faulty == 0
    assert asked >= 1_000


async def _passes(
    pool: Executor, problem: Problem, test_changes: Sequence[TestChange], code: str
) -> list[bool] | None:
    """Return which changed tests a solution passes; None if it fails one as it was."""
    tests = problem.tests.public
    changed = [
        tests[each.test].model_copy(update={"output": each.after, "public": False})
        for each in test_changes
    ]
    task = OPTIONS.task(problem, code, ())._replace(stop=Stop.NEVER)
    grade = await pool.call(Judgement(task, Shared(TestSuite((*tests, *changed)))))
    verdicts = [each.verdict for each in grade.tests]
    if any(each is not Verdict.ACCEPTED for each in verdicts[: len(tests)]):
        return None
    return [each is Verdict.ACCEPTED for each in verdicts[len(tests) :]]


Case = tuple[Problem, list[TestChange], list[str]]


def _livecodebench(data: Path) -> Iterator[Case]:
    folder = data / "lcb_codegen_full184"
    right: dict[str, list[str]] = defaultdict(list)
    for line in gzip.decompress((folder / "graded_generations.jsonl.gz").read_bytes()).splitlines():
        row = json.loads(line)
        if row["passed"] == row["total"] > 0 and len(right[row["question_id"]]) < MOST_SOLUTIONS:
            right[row["question_id"]].append(row["output"])
    for problem in harness.load_problems(f"livecodebench:{folder}/test_*"):
        answers = right[problem.native_id]
        if answers and unfit(problem, OPTIONS) is None and (test_changes := changes(problem)):
            codes = [extract(text, problem.entry_point).code for text in answers]
            yield problem, test_changes, list(dict.fromkeys(codes))


def _humaneval(data: Path) -> Iterator[Case]:
    text = gzip.decompress((data / "humaneval" / "HumanEval.jsonl.gz").read_bytes())
    rows = [_row(json.loads(line)) for line in text.splitlines()]
    problems = harness.load_problems([row for row in rows if row["tests"]])
    for problem in problems:
        if unfit(with_hidden(problem), OPTIONS) is None and (test_changes := changes(problem)):
            yield problem, test_changes, list(problem.programs())


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    tests = [{**test, "public": True} for test in _values(row["test"])]
    return {
        "id": row["task_id"],
        "statement": row["prompt"],
        "entry_point": row["entry_point"],
        "tests": list({test["input"]: test for test in tests}.values())[:8],
        "references": [row["prompt"] + row["canonical_solution"]],
    }


def _values(source: str) -> Iterator[dict[str, str]]:
    """Yield input and output of each assertion that a call of literals equals a literal."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id="candidate"), args=arguments, keywords=[]),
                    ops=[ast.Eq()],
                    comparators=[expected],
                )
            ):
                try:
                    given = [ast.literal_eval(each) for each in arguments]
                    output = ast.literal_eval(expected)
                    if "(" in repr([given, output]):  # a tuple, which JSON does not have
                        continue
                    lines = [json.dumps(each) for each in given]
                except (ValueError, TypeError):
                    continue
                yield {"input": "\n".join(lines), "output": json.dumps(output)}
            case _:
                pass
