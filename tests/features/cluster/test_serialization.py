"""Work on its way to another machine: whole, with large shared data once, errors as they were."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from own_problems import ECHO

from harness.errors import DataError
from harness.features.cluster.outcomes import Raised, pack_outcome, unpack_outcome
from harness.features.cluster.packed_work import LARGE, pack, unpack
from harness.grading.jobs import Judgement, Options
from harness.grading.task import Task
from harness.grading.verdict import Verdict
from harness.problem import Problem, TestCase, TestSuite
from harness.sandbox.execution import SandboxError
from harness.sandbox.executor import Shared
from harness.sandbox.worker import Worker
from harness.sources.benchmarks import load


class Depot:
    """Where large data are put, each under its number."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self._of: dict[int, int] = {}

    def keep(self, value: object, data: bytes) -> int:
        self.data.append(data)
        self._of[id(value)] = len(self.data) - 1
        return len(self.data) - 1

    def kept(self, value: object) -> int | None:
        return self._of.get(id(value))

    def send(self, work: Any) -> tuple[Any, int]:
        """What arrives, and the bytes that went with it alone."""
        body, places = pack(work, self.keep, self.kept)
        return unpack(body, [self.data[place] for place in places]), len(body)


def _own(folder: Path, **changes: Any) -> Problem:
    path = folder / "own.jsonl"
    path.write_text(json.dumps({**ECHO, **changes}) + "\n")
    return load(f"jsonl:{path}").problems[0]


def _judgement(problem: Problem, code: str) -> Judgement:
    return Judgement(Options().task(problem, code, ()), Shared(problem.tests))


def test_what_arrives_judges_as_here_though_the_problems_file_is_gone(
    worker: Worker, tmp_path: Path
) -> None:
    problem = _own(tmp_path)
    arrived, _ = Depot().send(_judgement(problem, "print(input())"))
    (tmp_path / "own.jsonl").unlink()
    grade = arrived(worker)
    assert (grade.verdict, grade.public_total, grade.hidden_passed) == (Verdict.ACCEPTED, 1, 2)
    with pytest.raises(DataError):
        problem.tests.all()


def test_a_row_that_has_changed_is_not_sent(tmp_path: Path) -> None:
    problem = _own(tmp_path)
    _own(tmp_path, statement="Another.")
    with pytest.raises(DataError, match="no longer the row of 'own/echo'"):
        Depot().send(_judgement(problem, "print(input())"))[0].suite.value.all()


def test_large_data_go_once_and_small_ones_with_the_work(tmp_path: Path) -> None:
    large = _own(tmp_path, tests=[{"input": "x" * 2 * LARGE, "output": "", "public": False}])
    small = TestSuite((TestCase(input="", output="", public=True),))
    depot = Depot()
    for code in ("a", "b", "c"):
        arrived, size = depot.send(_judgement(large, code))
        assert arrived.suite.value.all() == large.tests.all()
        assert arrived.task.program.code == code
        assert size < LARGE
    assert len(depot.data) == 1
    arrived, _ = depot.send(
        Judgement(Task(arrived.task.program, (), arrived.task.limits), Shared(small))
    )
    assert arrived.suite.value == small
    assert len(depot.data) == 1


@for_each(
    "error", [SandboxError("gone"), DataError("a.jsonl:3", "tests", "missing"), OSError(5, "bad")]
)
def test_errors_arrive_as_what_they_were(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        unpack_outcome(pack_outcome(Raised(error)))
    assert str(raised.value) == str(error)


class OddError(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def test_an_outcome_that_cannot_be_sent_is_a_fault_of_the_sandbox() -> None:
    with pytest.raises(SandboxError, match="OddError: ab"):
        unpack_outcome(pack_outcome(Raised(OddError("a", "b"))))
    with pytest.raises(SandboxError, match=r"pickle|local object"):
        unpack_outcome(pack_outcome(lambda: None))


def test_problems_of_folders_take_their_data_along(tmp_path: Path) -> None:
    folder = tmp_path / "test" / "0007"
    folder.mkdir(parents=True)
    (folder / "question.txt").write_text("Echo.")
    (folder / "input_output.json").write_text('{"inputs": ["1\\n"], "outputs": ["1\\n"]}')
    (folder / "solutions.json").write_text('["print(input())"]')
    (problem,) = load(f"apps:{tmp_path}").problems
    sent = pickle.loads(pickle.dumps(problem))
    for name in ("question.txt", "input_output.json", "solutions.json"):
        (folder / name).unlink()
    assert [test.input for test in sent.tests.all()] == ["1\n"]
    assert [each.code for each in sent.load_references()] == ["print(input())"]
