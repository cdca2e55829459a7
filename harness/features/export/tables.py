"""A sample as one flat row: for spreadsheets and data frames."""

from collections.abc import Mapping
from typing import Any

from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

TEXT, WHOLE, NUMBER, TRUTH, DATE = "text", "whole", "number", "truth", "date"
FIELDS = {
    "run": TEXT,
    "model": TEXT,
    "mode": TEXT,
    "prompt": TEXT,
    "sample": TEXT,
    "problem_id": TEXT,
    "index": WHOLE,
    "title": TEXT,
    "problem_hash": TEXT,
    "platform": TEXT,
    "difficulty": TEXT,
    "tags": TEXT,
    "release_date": DATE,
    "known_issues": TEXT,
    "verdict": TEXT,
    "graded": TRUTH,
    "solved": TRUTH,
    "public_passed": WHOLE,
    "public_total": WHOLE,
    "hidden_passed": WHOLE,
    "hidden_total": WHOLE,
    "fraction": NUMBER,
    "overfit": TRUTH,
    "stop_reason": TEXT,
    "chosen_by": TEXT,
    "extraction": TEXT,
    "model_calls": WHOLE,
    "tool_calls": WHOLE,
    "malformed_tool_calls": WHOLE,
    "nudges": WHOLE,
    "cut_off": WHOLE,
    "written": WHOLE,
    "tool_protocol": TEXT,
    "fallback": TRUTH,
    "refused": TRUTH,
    "confined": TRUTH,
    "input_tokens": WHOLE,
    "cached_input_tokens": WHOLE,
    "output_tokens": WHOLE,
    "reasoning_tokens": WHOLE,
    "cost": NUMBER,
    "seconds": NUMBER,
    "peak_bytes": WHOLE,
    "isolation": TEXT,
    "code": TEXT,
}
"""The columns in their order, and what each holds; any may be missing in a row (None)."""
EFFICIENCY_FIELDS = {
    "timing": TEXT,
    "cpu_s": NUMBER,
    "beyond": NUMBER,
    "beyond_low": NUMBER,
    "beyond_high": NUMBER,
    "beyond_branches": NUMBER,
    "percentile": NUMBER,
    "lack": TEXT,
    "remark": TEXT,
}
"""Columns of runs whose solutions are timed; `harness.efficiency.scale.Efficiency`."""
_OWN = ("run", "model", "mode", "prompt", "tags", "known_issues")
_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")


def fields_of(run: Run) -> dict[str, str]:
    """The columns of a run: those of efficiency are there where that was measured."""
    if all(result.efficiency is None for result in run.results):
        return FIELDS
    plain = {name: kind for name, kind in FIELDS.items() if name != "code"}
    return {**plain, **EFFICIENCY_FIELDS, "code": FIELDS["code"]}


def record(run: Run, result: SampleResult, fields: Mapping[str, str] = FIELDS) -> dict[str, Any]:
    """A sample by its fields; several words in one field are joined by semicolons.

    Args:
        run: that it is of.
        result: the sample.
        fields: those of the run, by `fields_of`.
    """
    usage, timed = result.usage, result.efficiency
    plain = [name for name in FIELDS if name not in {*_OWN, *_USAGE}]
    values = {name: getattr(result, name) for name in plain}
    values |= {name: None if usage is None else getattr(usage, name) for name in _USAGE}
    values |= {
        name: None if timed is None or getattr(timed, name) == "" else getattr(timed, name)
        for name in EFFICIENCY_FIELDS
    }
    values |= {
        "run": run.name,
        "model": str(run.spec["model"]),
        "mode": str(run.spec["mode"]),
        "prompt": str(run.manifest["prompt"]["name"]),
        "tags": ";".join(result.tags),
        "known_issues": ";".join(result.known_issues),
    }
    for name in ("verdict", "stop_reason", "chosen_by"):
        values[name] = str(values[name])
    return {name: values[name] for name in fields}
