"""Results as pandas data frames, for notebooks; pandas is imported when used."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

if TYPE_CHECKING:
    import pandas as pd

_LEFT_OUT = {"schema_version", "tests", "steps", "code", "judged_again", "usage", "efficiency"}
_TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
COLUMNS = (
    *("run", "model", "mode", "prompt"),
    *(name for name in SampleResult.model_fields if name not in _LEFT_OUT),
    *("solved", "graded", "fraction", "overfit"),
    *_TOKENS,
)
"""Columns of a frame of samples."""


def samples_frame(run: Run) -> "pd.DataFrame":
    """Return a row per sample, in order of completion.

    The columns are `run`, `model`, `mode`, `prompt`, the fields of a result, `solved`, `graded`,
    `fraction` (of tests passed), `overfit`, and tokens. Costs are in US dollars, times in seconds;
    unknown values are missing (NaN or None).
    """
    return frame(_rows(run), COLUMNS)


def frame(rows: Iterable[dict[str, Any]], columns: Sequence[str] = ()) -> "pd.DataFrame":
    """Return rows as a data frame; if there are none, it still has the columns given."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns) or None)


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
