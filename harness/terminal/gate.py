"""`--fail-under`: the rate it gives, and the exit code of a run that does not reach it."""

import math
from pathlib import Path

from rich.console import Console

from harness.errors import INFRASTRUCTURE, MISSED, OK, UsageError
from harness.figures import count, percent
from harness.run.summary.loaded_run import bracket_of, read_run
from harness.run.summary.summary import Summary

CLOSE = 1e-9
"""Tolerance for rounding errors in a mean of fractions."""


def read_rate(text: str | None, flag: str = "--fail-under") -> float | None:
    """Parse a rate such as 0.6 or 60%.

    Raises:
        UsageError: it is not between 0 and 1.
    """
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise UsageError(f"{flag} {text}: give a rate between 0 and 1, as 0.6 or 60%")
    return value


def gate(err: Console, path: Path, least: float | None, *, stranded: int = 0) -> int:
    """Return the exit code of a run, under `--fail-under` if it is given.

    Args:
        err: where to print why the run does not pass.
        path: the run directory.
        least: the required pass@1; None to always pass.
        stranded: number of samples that infrastructure left without a grade, under which no gate
            is passed.
    """
    code = _passes(err, path, least)
    return INFRASTRUCTURE if stranded else code


def _passes(err: Console, path: Path, least: float | None) -> int:
    """Return the exit code for a rate; it is decided once pending samples cannot change it."""
    if least is None:
        return OK
    run = read_run(path)
    open_, reached = bracket_of(run, selected=True), run.summary.pass_at_1
    wanted = f"--fail-under {percent(least)}"
    low, high = open_.if_failed or 0.0, open_.if_solved or 0.0
    if reached is not None and low >= least - CLOSE:
        return OK
    if reached is not None and high < least - CLOSE:
        most = f"at most {percent(high)}" if open_.pending else percent(high)
        err.print(f"{wanted}: missed, pass@1 is {most}", soft_wrap=True)
        return MISSED
    total = open_.graded + open_.pending
    if not total:
        err.print(f"{wanted}: not decided, no sample counts in a rate", soft_wrap=True)
        return INFRASTRUCTURE
    err.print(
        f"{wanted}: not decided, {open_.pending:,} of {count(total, 'sample')} not graded: pass@1 "
        f"would be between {percent(low)} and {percent(high)}{_without_tests(run.summary)}",
        soft_wrap=True,
    )
    return INFRASTRUCTURE


def _without_tests(summary: Summary) -> str:
    if not summary.untested:
        return ""
    return f" ({count(summary.untested, 'sample')} without a test that was run)"
