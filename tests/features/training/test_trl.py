"""`TrlSpec` without TRL, which `tests/conformance/trl_step.py` drives: what it hands over."""

import inspect
from collections.abc import Iterator

import pytest

from harness import Episode, UsageError
from harness.features.training.trl import TrlSpec, harness_reward

pytestmark = pytest.mark.usefixtures("kept_sandbox")


@pytest.fixture(scope="module")
def spec() -> Iterator[TrlSpec]:
    with TrlSpec("fixture", reward="shaped", sample_size=2, max_turns=3, workers=1) as spec:
        yield spec


@pytest.mark.thorough
def test_the_rows_hold_the_opening(spec: TrlSpec) -> None:
    rows = spec.train_dataset
    assert rows.column_names == ["prompt", "problem_id"]
    assert rows[1]["prompt"] == Episode(spec.episodes).reset(rows[1]["problem_id"])
    assert spec.max_tool_calling_iterations == 3


def test_the_public_methods_are_reset_and_the_tools(spec: TrlSpec) -> None:
    kind = type(spec.environment_factory())
    public = [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"]
    assert public == ["read_problem", "reset", "run_tests", "write_solution"]
    signature = inspect.signature(kind().write_solution)
    assert [(each.name, each.annotation) for each in signature.parameters.values()] == [
        ("code", str)
    ]
    assert "Args:\n    code: The complete Python source" in str(kind.write_solution.__doc__)


def test_rewards_of_a_batch(spec: TrlSpec) -> None:
    problem = spec.episodes.problems[0]
    codes = [problem.load_references()[0].code, "print(1)"]
    environments = [spec.environment_factory() for _ in codes]
    for environment, code in zip(environments, codes, strict=True):
        assert environment.reset(problem_id=problem.id, prompt="ignored") is None
        assert environment.write_solution(code=code).startswith("Saved")
        environment.run_tests()
    logged: dict[str, float] = {}
    assert harness_reward(environments, logged.__setitem__) == [1.0, 0.0]
    assert logged == {"solved": 0.5, "overfit": 0.0, "format": 1.0}


def test_tools_are_trls_to_tell() -> None:
    with pytest.raises(UsageError, match="tool_protocol must be native"):
        TrlSpec("fixture", tool_protocol="text")
