"""The reward function for verl and rLLM, on rows in the forms that these have."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from for_each import for_each

from harness import DataError, UsageError, load_problems
from harness.features.training.reward_function import compute_score, problem_of
from harness.grading.jobs import Judgement
from harness.sandbox.execution import SandboxError

pytestmark = pytest.mark.usefixtures("kept_sandbox")

PROGRAM = "Here:\n```python\na, b = map(int, input().split())\nprint(a + b)\n```"
FUNCTION = "```python\nclass Solution:\n    def add(self, a, b):\n        return a + b\n```"
STDIN = [{"input": "1 2\n", "output": "3\n", "testtype": "stdin", "metadata": {}}] * 2
FUNCTIONAL = [
    {
        "input": "1\n2",
        "output": "3",
        "testtype": "functional",
        "metadata": {"func_name": "add"},
    }
]
FORMS: dict[str, tuple[Any, str]] = {
    "programs": ({"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]}, PROGRAM),
    "programs whose lines are a list": ({"inputs": [["1 2"]], "outputs": [["3"]]}, PROGRAM),
    "functions": ({"inputs": [[1, 2]], "outputs": [[3]], "fn_name": "add"}, FUNCTION),
    "functions in text": ({"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}, FUNCTION),
    "LiveCodeBench's programs": (STDIN, PROGRAM),
    "LiveCodeBench's functions": (FUNCTIONAL, FUNCTION),
    "metadata in text": ([{**FUNCTIONAL[0], "metadata": '{"func_name": "add"}'}], FUNCTION),
    "tests within an object": ({"tests": STDIN}, PROGRAM),
}


@for_each("form", FORMS)
@for_each("as_text", [True, False])
def test_compute_score_rewards_right_solutions_in_every_row_form(form: str, as_text: bool) -> None:
    tests, right = FORMS[form]
    ground_truth = json.dumps(tests) if as_text else tests
    wrong = right.replace("a + b", "a - b")
    assert compute_score("lcb", right, ground_truth, workers=1) == 1.0
    assert compute_score("lcb", wrong, ground_truth, None, workers=1) == 0.0


def test_the_functions_name_may_be_in_the_row() -> None:
    tests = [{"input": "1\n2", "output": "3", "testtype": "functional"}]
    assert compute_score("lcb", FUNCTION, tests, {"func_name": "add"}, workers=1) == 1.0


def test_what_raises_earns_nothing() -> None:
    tests = FORMS["functions"][0]
    text = "```python\ndef add(a, b):\n    raise SystemExit(0)\n```"
    assert compute_score("lcb", text, tests, workers=1) == 0.0


def test_compute_score_gives_the_fraction_of_tests() -> None:
    tests = {"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "11\n"]}
    assert compute_score("lcb", PROGRAM, tests, workers=1, reward="fraction") == 0.5


def test_a_lost_sandbox_is_not_0(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SandboxError("on fire")

    monkeypatch.setattr(Judgement, "__call__", fail)
    assert math.isnan(compute_score("lcb", PROGRAM, STDIN, workers=1))


@for_each(("given", "wanted"), [("[1", "4"), ("[1]", "[4"), ("1\nx", "4")])
def test_a_functional_test_that_is_no_json_is_no_failure_of_the_model(
    given: str, wanted: str
) -> None:
    tests = {"inputs": [given], "outputs": [wanted], "fn_name": "f"}
    with pytest.raises(DataError, match=r"ground_truth, test 1.* is not a JSON value"):
        compute_score("lcb", FUNCTION, tests, workers=1)


def test_tests_may_be_arrays_as_in_a_data_frame() -> None:
    tests = {"inputs": np.array(["1 2\n"], dtype=object), "outputs": np.array(["3\n"])}
    assert compute_score("lcb", PROGRAM, tests, workers=1) == 1.0
    assert compute_score("lcb", PROGRAM.replace("+", "-"), tests, workers=1) == 0.0
    with pytest.raises(DataError, match="ground_truth"):
        compute_score("lcb", PROGRAM, b"{}", workers=1)
    with pytest.raises(DataError, match="extra_info"):
        compute_score("lcb", PROGRAM, tests, "abc", workers=1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="settings are JSON"):
        compute_score("lcb", PROGRAM, tests, reward=len)


@for_each("ground_truth", ["{", "5", {"inputs": ["1"]}, [{"output": "1"}], [5]])
def test_what_holds_no_tests(ground_truth: Any) -> None:
    with pytest.raises(DataError, match="field 'ground_truth'"):
        problem_of("lcb", ground_truth, {})


ROWS = ("lcb_codegen_full184/test_small.jsonl", "lcb_codegen_full184/test_medium.jsonl.gz")
OUTPUTS = "lcb_codegen_full184/graded_generations.jsonl.gz"
EACH = 10


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["verl", "rLLM"])
def test_real_rows_and_outputs_are_scored_as_published(form: str, test_data: Path) -> None:
    names = [f"livecodebench:{test_data / name}" for name in ROWS]
    problems = {each.native_id: each for name in names for each in load_problems(name)}
    wanted = {
        (passed, is_function): EACH for passed in (True, False) for is_function in (True, False)
    }
    scored: list[tuple[float, float]] = []
    with gzip.open(test_data / OUTPUTS, "rt") as lines:
        for line in lines:
            output = json.loads(line)
            problem = problems.get(output["question_id"])
            key = output["score"] == 1.0, problem is not None and problem.entry_point is not None
            if problem is None or not wanted[key]:
                continue
            wanted[key] -= 1
            tests = problem.tests.all()
            if form == "verl":
                truth: Any = {
                    "inputs": [test.input for test in tests],
                    "outputs": [test.output for test in tests],
                    "fn_name": problem.entry_point,
                }
            else:
                kind = "stdin" if problem.entry_point is None else "functional"
                extra = {"func_name": problem.entry_point}
                truth = [
                    {"input": t.input, "output": t.output, "testtype": kind, "metadata": extra}
                    for t in tests
                ]
            score = compute_score("livecodebench", output["output"], json.dumps(truth), workers=2)
            scored.append((score, float(key[0])))
    assert not any(wanted.values())
    assert [mine for mine, _ in scored] == [theirs for _, theirs in scored]
