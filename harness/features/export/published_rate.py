"""A run's solved rate with what is needed to publish it, and the hub's file of it.

The file is YAML for `.eval_results/` of a model on the Hugging Face hub. Its fields follow
https://huggingface.co/docs/hub/eval-results, as of 2026-11-24. The hub takes it for data sets that
are registered as benchmarks there.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.run.store.planned_samples import samples_text
from harness.run.summary.loaded_run import Run
from harness.sources.hub_datasets import APPS, LCB_LITE, LEETCODE, LEETCODEDATASET, MERCURY
from harness.stats.rates import Rate
from harness.yaml_text import yaml_of

DATASETS = {
    "livecodebench": LCB_LITE,
    "leetcode": LEETCODE,
    "leetcodedataset": LEETCODEDATASET,
    "apps": APPS,
    "mercury": MERCURY,
    "humaneval": "openai/openai_humaneval",
    "mbpp": "google-research-datasets/mbpp",
}
"""Data sets on the Hugging Face hub, by the name of the benchmark."""
TO = "eval-results"
PERCENT = 100


class PublishedRate(NamedTuple):
    """The solved rate of a complete run.

    Attributes:
        benchmark: name of the benchmark.
        where: its release or split; empty for the default or a path.
        dataset: data set on the hub; None if the problems are others.
        rate: pass@1 with its interval.
        notes: mode, prompt set, problems and samples, in words.
    """

    benchmark: str
    where: str
    dataset: str | None
    rate: Rate
    notes: str


def published_rate(run: Run, to: str) -> PublishedRate:
    """Return the solved rate of a run.

    Args:
        run: the run.
        to: the format, for messages.

    Raises:
        UsageError: no sample is graded, or some are pending, so that there is no final rate; or
            tests of the benchmark were changed.
    """
    summary = run.summary
    if summary.pass_at_1 is None:
        raise UsageError(f"--to {to}: the run has no solved rate: no sample is graded")
    if summary.pending:
        pending = sum(summary.pending.values())
        raise UsageError(f"--to {to}: {pending:,} samples are pending; finish the run first")
    if summary.impossible is not None:
        raise UsageError(
            f"--to {to}: the run has impossible tests, so its rate is not that of the benchmark"
        )
    name, _, where = str(run.spec.get("benchmark") or "fixture").partition(":")
    where = where.partition("@")[0]
    is_path = "/" in where or "." in where
    return PublishedRate(
        benchmark=name,
        where="" if is_path else where,
        dataset=None if is_path else DATASETS.get(name),
        rate=summary.pass_at_1,
        notes=_notes(run, summary.pass_at_1.problems),
    )


def _notes(run: Run, problems: int) -> str:
    samples = samples_text(run.manifest)
    parts = [
        f"mode {run.spec.get('mode')}",
        f"prompt {run.manifest['prompt'].get('name')}",
        f"{problems} problems, {samples} sample{'s' * (samples != '1')} each",
        "public and hidden tests",
    ]
    return ", ".join(parts)


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
