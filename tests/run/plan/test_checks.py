"""Checks of a run: listed in the registry, in any order."""

import subprocess
import sys
from typing import Any

import pytest

from harness.errors import UsageError
from harness.registry import PLAN_CHECKS, START_CHECKS, resolve
from harness.run.plan import plan
from harness.run.settings.spec import SETTINGS, read_spec

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "language": ({"language": "cpp"}, "the answers of replay:bundled are in Python"),
    "batch": ({"batch": True, "model": "references"}, "not a provider's model"),
    "target": ({"top_k": 3, "model": "references"}, "--set top_k: harness sends no request"),
    "price": ({"max_cost": 1, "model": "gpt-unknown"}, "what gpt-unknown costs is unknown"),
    "impossible": ({"impossible": 0.5, "mode": "agentic"}, "were given to unchanged tests"),
    "samples": ({"samples_per_problem": 400_000, "model": "references"}, "a run has at most"),
    "recorded": ({"samples_per_problem": 100}, "has at most 6 recorded of a problem"),
    "kind": ({"extract": "mine"}, "--set extract mine: known are harness"),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_a_check_refuses_in_any_order(
    name: str, backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for listed in ("START_CHECKS", "PLAN_CHECKS"):
        checks = getattr(plan, listed)
        monkeypatch.setattr(plan, listed, dict(reversed(checks.items())) if backwards else checks)
    settings, message = REFUSED[name]
    if name == "batch" and backwards:
        message = "--batch: harness sends no request"  # both checks refuse it, in other words
    with pytest.raises(UsageError) as refused:
        plan.prepare(read_spec(None, settings), {}, dry_run=True)
    assert message in str(refused.value)


def test_each_check_is_a_function_and_its_condition_a_setting() -> None:
    for function, key in {**START_CHECKS, **PLAN_CHECKS}.items():
        assert callable(resolve(function))
        assert not key or key in SETTINGS


def test_a_check_of_a_feature_is_imported_only_with_its_setting() -> None:
    program = (
        "import sys\n"
        "from harness.run.plan.plan import prepare\n"
        "from harness.run.settings.spec import read_spec\n"
        "prepare(read_spec(None, {}), {}, dry_run=True)\n"
        "print(*(each for each in sys.modules if each.startswith('harness.features.batch')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
