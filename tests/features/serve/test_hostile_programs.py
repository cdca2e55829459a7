"""The hostile programs of `tests/sandbox/hostile`, handed in over HTTP: the same verdicts.

Those that only wait for a clock are left to that folder's own tests.
"""

import importlib.util
import json
import platform
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from judge_server import JudgeServer

from harness.grading.verdict import Verdict
from harness.problem import Problem, Signature, TestSuite
from harness.sandbox.strongest import strongest

pytestmark = pytest.mark.usefixtures("kept_sandbox")

SANDBOX = Path(__file__).parents[2] / "sandbox"
SLOW = {Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT}
HONEST = "import os\nn = int(input())\nprint(os.listdir() or n * 2)"


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hostile_programs", SANDBOX / "test_hostile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


HOSTILE: Any = _module()
surroundings = HOSTILE.surroundings


def problem_of(name: str, around: Any) -> Problem:
    entry = HOSTILE.MANIFEST[name]
    tests = tuple(HOSTILE.cases_of(name, around))
    return Problem(
        id=f"hostile/{name}",
        source="hostile",
        title=name,
        statement="",
        platform="",
        difficulty=None,
        difficulty_word="",
        entry_point=entry.function,
        signature=Signature(result=entry.result),
        tests=TestSuite(tests[:1], lambda: tests[1:]),
        content_hash=name,
    )


def chosen() -> list[str]:
    """Programs that say something on this machine, and not by running into a limit."""
    from harness.sandbox.isolation import PROMISED

    held = PROMISED[strongest().isolation.level]
    return [
        name
        for name, entry in HOSTILE.MANIFEST.items()
        if not SLOW & set(entry.verdicts)
        and not entry.needs
        and entry.machine in {None, platform.machine()}
        and (not entry.layer or entry.layer in held)
    ]


PARTS = 3
"""Requests that the programs are judged in."""


@pytest.fixture(scope="module")
def judge_of_hostile(surroundings: Any) -> Iterator[JudgeServer]:
    problems = [problem_of(name, surroundings) for name in HOSTILE.MANIFEST]
    with JudgeServer(problems, workers=2) as server:
        yield server


def item(name: str, around: Any) -> dict[str, Any]:
    entry = HOSTILE.MANIFEST[name]
    return {
        "id": name,
        "problem": f"hostile/{name}",
        "code": HOSTILE.source_of(name, around),
        "test_timeout": entry.limits.cpu_s,
        "wall_timeout": entry.limits.wall_s,
        "memory": entry.limits.memory_mb,
    }


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_each_gets_the_verdict_that_it_gets_without_http(
    part: int, judge_of_hostile: JudgeServer, surroundings: Any
) -> None:
    names = chosen()[part::PARTS]
    assert len(names) > 60
    before = [entry.before for entry in HOSTILE.MANIFEST.values() if entry.before is not None]
    items = [item(name, surroundings) for name in (*before, *names)]
    content = json.dumps({"items": items})  # halves of surrogate pairs as escapes
    answer = judge_of_hostile.client.post("/grade", content=content)
    results = [json.loads(line) for line in answer.text.splitlines()]
    assert len(results) == len(items)
    wrong = {
        each["id"]: each["verdict"]
        for each in results
        if each["verdict"] not in HOSTILE.MANIFEST[each["id"]].verdicts
    }
    assert not wrong


def test_the_server_is_as_it_was(judge_of_hostile: JudgeServer, surroundings: Any) -> None:
    health = judge_of_hostile.client.get("/health").json()
    assert (health["status"], health["waiting"], health["running"]) == ("ok", 0, 0)
    tests = [{"input": "1", "output": "2"}]
    assert judge_of_hostile.grade(tests=tests, code=HONEST)["reward"] == 1.0
    assert surroundings.planted.read_text() == "planted"


@pytest.mark.parametrize(
    "name", ["escapes/kill_parent", "escapes/planted_file", "denominator/kills_the_worker"]
)
def test_run_code_holds_as_well(
    name: str, judge_of_hostile: JudgeServer, surroundings: Any
) -> None:
    answer = judge_of_hostile.run_code(
        HOSTILE.source_of(name, surroundings), stdin=str(surroundings.planted), run_timeout=2
    )
    assert answer["status"] in {"Success", "Failed"}
    assert answer["run_result"]["stdout"] != "planted\n"
    assert judge_of_hostile.run_code("print(1)")["status"] == "Success"
