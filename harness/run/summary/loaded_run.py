"""A run that is read from its directory: its data frames, pass@1 bounds, and names in headings."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from harness.agent.strategies.modes import mode_named
from harness.errors import RunDirectoryError
from harness.figures import count
from harness.frozen import Frozen
from harness.models.prices.price import Price, cost
from harness.models.prices.price_lists import ListedPrice
from harness.registry import hooks
from harness.run.store.directory import MANIFEST, RESULTS, SUMMARY, read_manifest
from harness.run.store.files import LARGEST_SUMMARY, read_file
from harness.run.store.pending import NOT_NEEDED
from harness.run.store.planned_samples import planned_samples, samples_by_problem, samples_text
from harness.run.store.results import Columns, SampleResult, load_results, uncollected
from harness.run.store.state import RunState, state_of
from harness.run.store.transcripts import unheard_requests
from harness.run.summary.sample_facts import sample_facts
from harness.run.summary.summary import SCHEMA, Summary, summarize
from harness.text import printable_line

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


@dataclass(frozen=True)
class Run:
    """A run on disk; an unfinished one has the results so far.

    Attributes:
        path: the run directory.
        manifest: contents of `run.json`.
        results: committed samples in order of completion, with costs if the price is known.
        repeated: number of superseded lines in the results.
        filtered_by: description of what `result_filter.filtered` kept; empty if not filtered.
        filter_notes: notes on problems left out because they could not be classified.
    """

    path: Path
    manifest: dict[str, Any]
    results: tuple[SampleResult, ...]
    repeated: int = 0
    filtered_by: str = ""
    filter_notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.resolve().name

    @property
    def spec(self) -> dict[str, Any]:
        """The stored spec, by key."""
        return self.manifest["spec"]

    @property
    def prompt(self) -> dict[str, Any]:
        """The prompt set's name and hash, without its templates."""
        stored: dict[str, Any] = self.manifest["prompt"]
        return {key: stored[key] for key in ("name", "hash") if key in stored}

    @property
    def tools_sent(self) -> list[dict[str, Any]]:
        """The tools that its samples were given natively, as they were sent; none in text."""
        tools: dict[str, Any] = self.manifest.get("tools") or {}
        return tools.get("sent", [])

    @property
    def planned(self) -> int:
        """Number of planned samples, including those of missing shards."""
        return planned_samples(self.manifest)

    @cached_property
    def columns(self) -> Columns:
        """The fields of its results."""
        return Columns(self.results)

    @cached_property
    def state(self) -> RunState:
        """Progress of the run, and why it is unfinished."""
        return state_of(self.path, self.manifest, set(self.columns["sample"]))

    @cached_property
    def summary(self) -> Summary:
        """Summary of the results, and why other samples are pending."""
        return summarize(
            self.columns,
            self.planned,
            self.state.pending,
            prices_as_of=prices_as_of(self.manifest),
            max_tokens=max_tokens_of(self.manifest),
            unheard=self._unheard,
        )

    @property
    def _unheard(self) -> int:
        """Requests of pending samples whose answer was lost."""
        if len(self.results) >= self.planned or self.filtered_by:
            return 0  # with a filter, requests of left-out samples cannot be told apart
        return unheard_requests(self.path, self.results)


def read_run(path: Path, manifest: dict[str, Any] | None = None) -> Run:
    """Read a run.

    Args:
        path: the run directory.
        manifest: its manifest, if that is read already.

    Raises:
        RunDirectoryError: it is not a run, or a line of its results is invalid.
    """
    manifest = read_manifest(path) if manifest is None else manifest
    listed = price_in(path, manifest)
    with uncollected():
        results = load_results(path / RESULTS)
        return Run(path, manifest, tuple(with_costs(results.results, listed)), results.repeated)


def price_in(path: Path, manifest: Mapping[str, Any] | None = None) -> ListedPrice | None:
    """Return the price that a run was begun with; None if it is unknown.

    Args:
        path: the run directory.
        manifest: its manifest, if that is read already.

    Raises:
        RunDirectoryError: it is not a run, or its price is invalid.
    """
    price = (read_manifest(path) if manifest is None else manifest).get("price")
    try:
        return None if price is None else ListedPrice.model_validate(price)
    except ValidationError as error:
        raise RunDirectoryError(f"{path / MANIFEST}: the price is invalid") from error


def stored_summary(path: Path, planned: int) -> Summary | None:
    """Return a run's `summary.json`; None if it is missing, or not of the results as they are.

    Args:
        path: the run directory.
        planned: number of planned samples.
    """
    try:
        if (path / SUMMARY).stat().st_mtime_ns < (path / RESULTS).stat().st_mtime_ns:
            return None
        summary = Summary.model_validate_json(read_file(path / SUMMARY, LARGEST_SUMMARY))
    except (OSError, ValidationError):
        return None
    return summary if summary.schema_version == SCHEMA and summary.planned == planned else None


# pyright: reportMissingTypeStubs=false


def samples_frame(run: Run) -> "pd.DataFrame":
    """Return a row per sample, in order of completion.

    The columns are `run`, `model`, `mode`, `prompt`, the fields of a result, `solved`, `graded`,
    `fraction` (of tests passed), `overfit`, and tokens. Costs are in US dollars, times in seconds;
    unknown values are missing (NaN or None).
    """
    return frame(_rows(run), [*COLUMNS, *(fact.key for fact in sample_facts() if fact.exported)])


def frame(rows: Iterable[dict[str, Any]], columns: Sequence[str] = ()) -> "pd.DataFrame":
    """Return rows as a data frame; if there are none, it still has the columns given."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns) or None)


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    shared = {
        "run": run.name,
        "model": run.spec.get("model"),
        "mode": run.spec.get("mode"),
        "prompt": run.manifest["prompt"].get("name"),
    }
    for result in run.results:
        usage = result.usage
        yield {
            **shared,
            **result.model_dump(exclude=_LEFT_OUT),
            "verdict": str(result.verdict),
            "stop_reason": str(result.stop_reason),
            "chosen_by": str(result.chosen_by),
            "solved": result.solved,
            "graded": result.graded,
            "fraction": result.fraction,
            "overfit": result.overfit,
            **{name: None if usage is None else getattr(usage, name) for name in _TOKENS},
            **{fact.key: fact.value(result) for fact in sample_facts() if fact.exported},
        }


class Bounds(Frozen):
    """Range of pass@1 given the samples that are not graded.

    Attributes:
        graded, pending: samples that count in the rate, and samples that may still count.
        if_failed, if_solved: pass@1 if all pending samples failed, and if all were solved; None if
            there are neither graded nor pending samples.
    """

    graded: int
    pending: int
    if_failed: float | None
    if_solved: float | None


def bracket_of(run: Run, *, selected: bool = False) -> Bounds:
    """Return the range of a run's pass@1.

    Args:
        run: the run.
        selected: whether to count every ungraded sample as pending, including those of problems
            without tests, and those that an experiment did not need.

    Problems that count in no rate, such as those with changed tests, are left out.
    """
    planned = samples_by_problem(run.manifest) if selected or not _is_complete(run) else {}
    left_out = _uncounted(run.manifest)
    counts = {**dict.fromkeys(run.manifest["problems"], (0, 0)), **run.columns.counts}
    counts = {problem: each for problem, each in counts.items() if problem not in left_out}
    done = Counter(run.columns["problem_id"])
    pending = {
        problem: max(0, planned.get(problem, 0) - (graded if selected else done[problem]))
        for problem, (graded, _) in counts.items()
    }
    trials = {p: n + pending[p] for p, (n, _) in counts.items() if n + pending[p]}
    return Bounds(
        graded=sum(graded for graded, _ in counts.values()),
        pending=sum(pending.values()),
        if_failed=_mean([counts[p][1] / n for p, n in trials.items()]),
        if_solved=_mean([(counts[p][1] + pending[p]) / n for p, n in trials.items()]),
    )


def pending_of(run: Run) -> dict[str, int]:
    """Return each problem's missing samples, if any; ungraded ones are not missing.

    Samples of problems that count in no rate are left out.
    """
    planned = {} if _is_complete(run) else samples_by_problem(run.manifest)
    done = Counter(run.columns["problem_id"])
    problems = run.manifest["problems"].keys() - _uncounted(run.manifest)
    return {
        problem: number - done[problem]
        for problem, number in planned.items()
        if problem in problems and number > done[problem]
    }


def _uncounted(manifest: Mapping[str, Any]) -> set[str]:
    """Return the problems of a run that count in no rate. Raises RunDirectoryError."""
    return {name for each in hooks("uncounted").values() for name in each(manifest)}


def _is_complete(run: Run) -> bool:
    """Return whether its experiment does not need the samples left."""
    return bool(run.manifest.get(NOT_NEEDED))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def with_costs(results: Iterable[SampleResult], price: Price | None) -> list[SampleResult]:
    """Return the results with costs added to those graded without a price."""
    if price is None:
        return list(results)
    return [
        result.model_copy(update={"cost": cost(result.usage, price)})
        if result.cost is None
        else result
        for result in results
    ]


def max_tokens_of(manifest: Mapping[str, Any]) -> int | None:
    """Return a run's token limit of one answer; None if it has none."""
    limit = manifest["spec"].get("max_tokens")
    return limit if isinstance(limit, int) else None


def prices_as_of(manifest: Mapping[str, Any]) -> str | None:
    """Return the date of a run's price list; None if there was none."""
    price = manifest.get("price")
    dated = price.get("as_of") if isinstance(price, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return dated if isinstance(dated, str) else None


def benchmark_words(benchmark: object) -> str:
    """Return a benchmark's name and release: `livecodebench v6`."""
    name, _, where = str(benchmark or "fixture").partition(":")
    where = where.rpartition("/")[2] or where
    return printable_line(f"{name} {where}".strip())


def mode_words(mode: object) -> str:
    """Return a mode's name in texts: `single shot`."""
    own = mode_named(mode)
    return printable_line(own.label or own.title)


def measured_words(manifest: Mapping[str, Any], problems: int) -> str:
    """Return a line about a run: benchmark, problems, model, mode, prompt set."""
    spec = manifest["spec"]
    samples = samples_text(manifest)
    parts = (
        benchmark_words(spec.get("benchmark")),
        count(problems, "problem") + (f" x {samples} samples" if samples != "1" else ""),
        printable_line(str(spec.get("model") or "no model")),
        mode_words(spec.get("mode")),
        f"prompt {printable_line(str(manifest['prompt'].get('name') or 'unknown'))}",
    )
    return ", ".join(parts)
