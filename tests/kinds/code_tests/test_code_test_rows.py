"""Own rows whose tests are code: no generated cheat is accepted, each honest solution is."""

import importlib.util
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "code_test_rows.py"


def _generator() -> Any:
    spec = importlib.util.spec_from_file_location("code_test_rows_of_benchmarks", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GENERATOR = _generator()


STEPS = {"operator": 2, "recording": 15}


def every(step: int) -> list[Any]:
    """Return all forms, or one of so many of each family, others in each run."""
    forms = GENERATOR.forms()
    if step == 1:
        return forms
    families = {form.family: [f for f in forms if f.family == form.family] for form in forms}
    return [
        form
        for family, each in families.items()
        for form in random.sample(each, math.ceil(len(each) / STEPS.get(family, step)))
    ]


@pytest.mark.parametrize(
    "step", [30, pytest.param(1, marks=pytest.mark.thorough)], ids=["some forms", "all forms"]
)
def test_cheats_are_refused_and_honest_solutions_accepted(step: int) -> None:
    forms = every(step)
    tally = GENERATOR.measure(forms)
    assert tally.cheats.keys() == {form.family for form in GENERATOR.forms()}
    assert tally.wrong == []
    assert tally.cheats.total() == len(forms)
    assert tally.honest.total() > len(forms) / 2
    assert tally.cheats["recording"] > 100 / STEPS["recording"]
    # They are the solution's own answer, which is told.
    assert tally.told["operator"] > tally.cheats["operator"] / 2
