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


def every(step: int, forms: list[Any]) -> list[Any]:
    """Return one form of so many of each family, others in each run."""
    families = {form.family: [f for f in forms if f.family == form.family] for form in forms}
    return [
        form
        for each in families.values()
        for form in random.sample(each, math.ceil(len(each) / step))
    ]


@pytest.mark.parametrize(
    "step", [30, pytest.param(1, marks=pytest.mark.thorough)], ids=["some forms", "all forms"]
)
def test_cheats_are_refused_and_honest_solutions_accepted(step: int) -> None:
    forms = every(step, GENERATOR.forms())
    tally = GENERATOR.measure(forms)
    families = {form.family for form in forms}
    assert families >= {"signal", "name", "operator", "callback", "recording"}
    assert tally.wrong == []
    assert tally.cheats.total() == len(forms)
    assert tally.honest.total() > len(forms) / 2


@pytest.mark.parametrize(
    "step", [2, pytest.param(1, marks=pytest.mark.thorough)], ids=["some forms", "all forms"]
)
def test_operators_with_a_plain_value_are_told(step: int) -> None:
    forms = every(step, list(GENERATOR.operators()))
    tally = GENERATOR.measure([form._replace(told=False) for form in forms])
    assert tally.cheats_accepted.total() > len(forms) / 2  # they are the solution's own answer
    assert GENERATOR.measure(forms).cheats_accepted.total() == 0


@pytest.mark.parametrize(
    "step", [15, pytest.param(1, marks=pytest.mark.thorough)], ids=["some forms", "all forms"]
)
def test_functions_that_record_into_the_tests_state_run_where_the_tests_are(step: int) -> None:
    forms = every(step, list(GENERATOR.recordings()))
    tally = GENERATOR.measure(forms)
    assert tally.wrong == []
    assert tally.cheats.total() == len(forms) > 100 / step
