"""Ten solutions that cheat: `POST /grade` pays none of them."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from for_each import for_each
from judge_server import JudgeServer

FILE = Path(__file__).parents[2] / "benchmarks" / "cheats.py"


def _cheats() -> Any:
    spec = importlib.util.spec_from_file_location("cheats_of_benchmarks", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MODULE = _cheats()


@for_each("cheat", MODULE.CHEATS)
def test_cheats_are_not_rewarded(judge: JudgeServer, cheat: Any) -> None:
    tests = MODULE.tests_of(cheat)
    answer = judge.grade(input_output=tests, code=cheat.code)
    assert answer["reward"] == 0.0
    assert answer["verdict"] in {"wrong_answer", "runtime_error"}


def test_a_right_solution_is_paid_for_the_same_tests(judge: JudgeServer) -> None:
    """The problems can be solved by who knows the answers."""
    for cheat in MODULE.CHEATS:
        tests = MODULE.tests_of(cheat)
        known = dict(zip(tests["inputs"], tests["outputs"], strict=True))
        if cheat.function:
            code = f"import json\ndef answer(n): return json.loads({known!r}[str(n)])"
        else:
            code = f"print({known!r}[input()])"
        assert judge.grade(input_output=tests, code=code)["reward"] == 1.0


def test_there_are_ten_cheats() -> None:
    assert len(MODULE.CHEATS) == 10
