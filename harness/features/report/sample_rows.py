"""Rows of all samples, for the page's script."""

from collections.abc import Sequence
from typing import Any

from harness.features.report.figures import spoken, tokens
from harness.features.report.run_labels import LabelledRun
from harness.run.store.results import SampleResult, Step
from harness.text import printable, printable_line

COLUMNS = (
    *("run", "sample", "title", "difficulty", "platform", "verdict", "solved"),
    *("public_passed", "public_total", "hidden_passed", "hidden_total"),
    *("turns", "tokens", "cost", "seconds", "stop", "tags", "released", "issues"),
    *("chosen", "steps", "command", "code"),
)
"""Names of a row's values, in order; the script receives them too."""
EFFICIENCY = ("cpu_s", "percentile", "beyond", "beyond_low", "beyond_high", "lack", "remark")
"""Further values of a row if solutions of any run are timed."""
MOST_CODE = 4_000_000
"""Most characters of code in all; if there are more, the page contains no code."""


def sample_data(sides: Sequence[LabelledRun]) -> dict[str, Any]:
    """Return all samples, with the facts that the page's filters need."""
    results = [result for side in sides for result in side.run.results]
    with_code = sum(len(result.code) for result in results) <= MOST_CODE
    timed = any(result.efficiency is not None for result in results)
    rows = [
        _row(number, side, result, with_code=with_code) + (_efficiency(result) if timed else [])
        for number, side in enumerate(sides)
        for result in side.run.results
    ]
    return {
        "columns": (*COLUMNS, *EFFICIENCY) if timed else COLUMNS,
        "runs": [side.label for side in sides],
        "with_code": with_code,
        "rows": rows,
    }


def _row(number: int, side: LabelledRun, result: SampleResult, *, with_code: bool) -> list[Any]:
    return [
        number,
        printable_line(result.sample),
        printable_line(result.title),
        result.difficulty or "unknown",
        printable_line(result.platform) or "unknown",
        spoken(result.verdict),
        int(result.solved),
        *(result.public_passed, result.public_total),
        *(result.hidden_passed, result.hidden_total),
        result.model_calls,
        tokens(result),
        result.cost,
        round(result.seconds, 3),
        spoken(result.stop_reason) + ", answer cut off" * bool(result.cut_off),
        [printable_line(tag) for tag in result.tags],
        None if result.release_date is None else result.release_date.isoformat(),
        [printable_line(issue) for issue in result.known_issues],
        spoken(result.chosen_by),
        [_step(step, result) for step in result.steps],
        printable_line(side.transcript(result.sample)),
        printable(result.code) if with_code else None,
    ]


def _efficiency(result: SampleResult) -> list[Any]:
    found = result.efficiency
    values = (None if found is None else getattr(found, name) for name in EFFICIENCY)
    return [printable_line(each) if isinstance(each, str) else each for each in values]


def _step(step: Step, result: SampleResult) -> str:
    """Describe a revision in a few words."""
    words = f"turn {step.turn}"
    if step.public_passed is not None:
        words += f", public tests {step.public_passed} of {result.public_total}"
    known = {True: "solved", False: "not solved", None: "not judged"}
    return f"{words}, {known[step.solved]}"
