"""Results as pandas data frames, for notebooks; pandas is imported when used."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.run.summary.loaded_run import Run

if TYPE_CHECKING:
    import pandas as pd

_LEFT_OUT = {"schema_version", "tests", "steps", "code", "judged_again", "usage", "efficiency"}
_TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")


def samples_frame(run: Run) -> "pd.DataFrame":
    """Return a row per sample, in order of completion.

    The columns are `run`, `model`, `mode`, `prompt`, the fields of a result, `solved`, `graded`,
    `fraction` (of tests passed), `overfit`, and tokens. Costs are in US dollars, times in seconds;
    unknown values are missing (NaN or None).
    """
    return frame(list(_rows(run)))


def frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    """Return rows as a data frame."""
    import pandas as pd

    return pd.DataFrame(rows)


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    said = {
        "run": run.name,
        "model": run.spec.get("model"),
        "mode": run.spec.get("mode"),
        "prompt": run.manifest["prompt"].get("name"),
    }
    for result in run.results:
        usage = result.usage
        yield {
            **said,
            **result.model_dump(exclude=_LEFT_OUT),
            "verdict": str(result.verdict),
            "stop_reason": str(result.stop_reason),
            "chosen_by": str(result.chosen_by),
            "solved": result.solved,
            "graded": result.graded,
            "fraction": result.fraction,
            "overfit": result.overfit,
            **{name: None if usage is None else getattr(usage, name) for name in _TOKENS},
        }
