"""Equal spend from published runs: shots of LiveCodeBench, and an agent at five turn limits."""

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from results_made import made_result

from harness.features.compare.spend import spend_comparison
from harness.features.compare.spend_result import SpendComparison, SpendCurve
from harness.grading.verdict import Verdict
from harness.models.protocol import Usage
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run

pytestmark = pytest.mark.thorough

Write = Callable[..., Path]


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


@pytest.fixture
def graded(test_data: Path) -> dict[str, list[SampleResult]]:
    """Ten samples of each of 85 problems under three prompts, by prompt."""
    folder = test_data / "lcb_codegen_full184"
    public: dict[str, int] = {}
    for name in ("test_small.jsonl", "test_medium.jsonl.gz", "test_large.jsonl.gz"):
        data = (folder / name).read_bytes()
        text = gzip.decompress(data) if name.endswith(".gz") else data
        for row in map(json.loads, text.splitlines()):
            public[row["question_id"]] = len(json.loads(row["public_test_cases"]))
    samples: dict[str, list[SampleResult]] = defaultdict(list)
    numbers: dict[tuple[str, str], int] = defaultdict(int)
    for row in lines(folder / "graded_generations.jsonl.gz"):
        name, stage, shown = row["question_id"], row["stage"], public[row["question_id"]]
        passed = [bool(each is True or each == 1) for each in row["case_passed"]]
        solved = row["passed"] == row["total"] > 0
        index, numbers[name, stage] = numbers[name, stage], numbers[name, stage] + 1
        samples[stage].append(
            made_result(name, solved=solved, index=index).model_copy(
                update={
                    "code": row["output"],
                    "public_total": shown,
                    "public_passed": sum(passed[:shown]),
                    "verdict": Verdict.ACCEPTED if solved else Verdict.WRONG_ANSWER,
                    "usage": None,
                    "cost": None,
                    "difficulty": None,
                }
            )
        )
    return samples


def curve(comparison: SpendComparison, label: str, way: str) -> SpendCurve:
    return next(each for each in comparison.curves if (each.label, each.way) == (label, way))


def test_ten_published_samples_are_an_arm_of_shots(
    graded: dict[str, list[SampleResult]], write_run: Write
) -> None:
    a, b = (
        read_run(write_run(stage, graded[stage], mode="single_shot", samples_per_problem=10))
        for stage in ("baseline", "augmented")
    )
    comparison = spend_comparison(a, b, [1, 3, 10])
    assert (comparison.unit, comparison.problems) == ("calls", 85)
    by_problem: dict[str, list[SampleResult]] = defaultdict(list)
    for result in graded["baseline"]:
        by_problem[result.problem_id].append(result)
    one, three, ten = comparison.differences
    mean = sum(sum(r.solved for r in own) / len(own) for own in by_problem.values()) / 85
    assert one.a.solved == pytest.approx(mean)
    bound = curve(comparison, "A", "any_right").points[-1]
    own = sum(any(r.solved for r in own) for own in by_problem.values() if len(own) == 10)
    assert own / 85 - 0.02 <= bound.solved  # problems with more than ten have a little less
    assert one.a.solved < three.a.solved < ten.a.solved <= bound.solved
    assert three.a.solved == pytest.approx(_drawn(by_problem, 3), abs=0.006)


def _drawn(by_problem: dict[str, list[SampleResult]], first: int) -> float:
    """The same by drawing orders."""
    draw, orders = random.Random(1), 400
    total = 0.0
    for own in by_problem.values():
        for _ in range(orders):
            total += max(draw.sample(own, first), key=lambda r: r.public_passed).solved
    return total / orders / len(by_problem)


@pytest.fixture
def mint(test_data: Path, write_run: Write) -> Callable[[str, int], Run]:
    """A run of a model with at most so many turns, on HumanEval and MBPP."""

    def write(model: str, turns: int) -> Run:
        results: list[SampleResult] = []
        for part in ("humaneval", "mbpp"):
            path = test_data / "agentic_runs" / f"mint_{model}_max{turns}_{part}.jsonl.gz"
            for row in lines(path):
                state, tokens = row["state"], row["state"]["token_counter"]
                solved = bool(state["success"])
                made = made_result(f"{part}/{row['task']['task_id']}", solved=solved)
                answers = sum(message["role"] == "assistant" for message in state["history"])
                usage = Usage(
                    input_tokens=tokens["prompt_tokens"], output_tokens=tokens["completion_tokens"]
                )
                changes = {"usage": usage, "cost": None, "model_calls": answers, "public_total": 0}
                results.append(made.model_copy(update=changes))
        return read_run(write_run(f"{model}-{turns}", results, mode="agentic", max_turns=turns))

    return write


@pytest.mark.parametrize("model", ["gpt-3.5-turbo-0613", "deepseek-coder-33b-instruct"])
def test_an_agent_that_is_cut_off_at_equal_spend_does_as_one_with_fewer_turns(
    model: str, mint: Callable[[str, int], Run]
) -> None:
    """Four turns, in truth, and five turns cut off where they have cost as much."""
    comparison = spend_comparison(mint(model, 4), mint(model, 5))
    assert (comparison.unit, comparison.problems) == ("tokens", 136)
    at_four = next(each for each in comparison.differences if each.mean_of == "A")
    assert at_four.low is not None
    assert at_four.high is not None
    assert at_four.low <= 0 <= at_four.high
    assert abs(at_four.difference) < 0.05


def test_more_turns_bring_more_than_two_and_cost_more(mint: Callable[[str, int], Run]) -> None:
    comparison = spend_comparison(mint("gpt-3.5-turbo-0613", 2), mint("gpt-3.5-turbo-0613", 5))
    assert comparison.crossing is not None
    assert (comparison.crossing.better_below, comparison.crossing.better_above) == ("A", "B")
    assert comparison.crossing.at == pytest.approx(3_352, abs=1)
    more, less = "gpt-3.5-turbo-0613-5", "gpt-3.5-turbo-0613-2"
    assert comparison.sentence == (
        f"For 5.82k tokens a problem, what {more} spends, {more} solves 29.4 % and {less} solves "
        "9.6 % (+19.9 points, +12.5 to +28.0: decided). Below 3.35k tokens a problem (95 % "
        f"interval 3.06k to 4.13k tokens) {less} solves more."
    )
