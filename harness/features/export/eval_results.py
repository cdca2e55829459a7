"""The Hugging Face hub's evaluation results: a YAML file for `.eval_results/` of a model.

Fields follow https://huggingface.co/docs/hub/eval-results, as of 2026-11-24. The hub takes them for
data sets that are registered as benchmarks there.
"""

from collections.abc import Iterator
from typing import Any

from harness.errors import UsageError
from harness.features.export.published_rate import PublishedRate, published_rate
from harness.run.summary.loaded_run import Run
from harness.yaml_text import yaml_of

TO = "eval-results"
PERCENT = 100


def eval_results_text(run: Run) -> Iterator[str]:
    """Yield the file, with one entry.

    Raises:
        UsageError: the run has no final rate, or its problems are no data set of the hub.
    """
    rate = published_rate(run, TO)
    if rate.dataset is None:
        raise UsageError(
            f"--to {TO} is for data sets of the Hugging Face hub, and the run's problems are "
            f"{rate.benchmark}; take --to every-eval-ever"
        )
    yield yaml_of([_entry(run, rate, rate.dataset)])


def _entry(run: Run, rate: PublishedRate, dataset: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": rate.where or "default"},
        "value": round(PERCENT * rate.rate.value, 2),
    }
    created = run.manifest.get("created")
    if isinstance(created, str):
        entry["date"] = created
    return {**entry, "notes": rate.notes}
