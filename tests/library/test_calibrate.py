"""`harness.calibrate`: what the command says, as an object."""

from typing import Any

import pytest

import harness

SLOW = "n = int(input())\ns = 0\nfor i in range(n): s += i; i * i; i * i; i * i; i * i\nprint(s)\n"
SUMS: dict[str, Any] = {
    "id": "sums",
    "statement": "Sum the numbers below n.",
    "tests": [{"input": f"{n}\n", "output": f"{n * (n - 1) // 2}\n"} for n in (3_000, 7_000)],
    "references": ["n = int(input())\nprint(n * (n - 1) // 2)\n", SLOW, "print(0)"],
}


@pytest.mark.thorough
def test_the_references_are_timed_the_fastest_first() -> None:
    calibration = harness.calibrate([SUMS], recollect=True)
    (problem,) = calibration.problems
    assert [each.index for each in problem.references] == [0, 1]
    assert problem.failed == 1
    assert problem.references[0].cpu_s < problem.references[1].cpu_s
    assert calibration.summary.references == 2
    assert repr(calibration) == "<CalibratedBenchmark: 1 of 1 problem tell fast from slow>"
    assert "fastest" in calibration._repr_html_()
    again = harness.calibrate([SUMS])  # from the stored times
    assert again.problems == calibration.problems


def test_a_key_that_it_ignores_is_refused() -> None:
    with pytest.raises(harness.UsageError, match="wall_timeout"):
        harness.calibrate([SUMS], wall_timeout=3)  # pyright: ignore[reportCallIssue]


def test_a_method_of_timing_needs_no_other_key() -> None:
    with pytest.raises(harness.UsageError, match="no problem is called"):
        harness.calibrate([SUMS], timing="mercury", task=["none"])
