"""The samples of a run that are shown, and their order."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.grading.verdict import INFRASTRUCTURE, Verdict
from harness.run.store.planned_samples import samples_by_problem
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run
from harness.run.summary.sample_facts import sample_facts
from harness.terminal.part_view import shown_parts
from harness.terminal.sample_table import Numbers, SampleRow, pending_rows, result_row

PENDING = "pending"
TOLD = (
    *("title", "platform", "difficulty", "public_passed", "public_total", "hidden_passed"),
    *("hidden_total", "stop_reason"),
)
"""Fields of a result that `--json` has too."""

_LAST = float("inf")
_ORDERS: dict[str, Callable[[SampleRow], Any]] = {
    "number": lambda row: row.number,
    "problem": lambda row: row.label.casefold(),
    "difficulty": lambda row: {"easy": 0, "medium": 1, "hard": 2}.get(row.difficulty, 3),
    "status": lambda row: row.status,
}
_VERDICTS = [verdict for verdict in Verdict if verdict not in INFRASTRUCTURE]


class ChosenSample(NamedTuple):
    """A sample's row, and its result if it has one."""

    row: SampleRow
    result: SampleResult | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the sample's fields for `--json`."""
        row, result = self.row, self.result
        fields: dict[str, Any] = {
            "number": row.number,
            "sample": row.sample,
            "status": row.status,
            "solved": result.solved if result is not None and result.graded else None,
        }
        if result is None:
            return fields
        return fields | {
            **{name: getattr(result, name) for name in TOLD},
            "tool_calls": result.tool_calls,
            **row.figures,
            **{
                key: part.model_dump(mode="json", exclude=view.shared)
                for key, view, part in shown_parts(result)
            },
            **({} if result.score is None else {"score": result.score.model_dump()}),
        }


_KINDS: dict[str, Callable[[ChosenSample], bool]] = {
    "solved": lambda shown: shown.result is not None and shown.result.solved,
    "unsolved": lambda shown: _graded(shown) and shown.row.status != Verdict.ACCEPTED,
    "overfit": lambda shown: shown.result is not None and shown.result.overfit,
}
KINDS = (*_KINDS, PENDING, *_VERDICTS)
"""Values of `--only`. Pending samples are neither solved nor unsolved."""


def shown_samples(run: Run, only: Iterable[str] = (), sort: str = "number") -> list[ChosenSample]:
    """Choose and sort the samples of a run.

    Args:
        run: the run.
        only: values of `KINDS`, or several separated by commas; empty for all samples.
        sort: a column; facts have the largest first, and unknown ones last.

    Raises:
        UsageError: there is no such kind or order.
    """
    kinds = [kind.strip().replace(" ", "_") for word in only for kind in word.split(",")]
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"--only {kind!r}: known are {', '.join(KINDS)}")
    facts = {fact.name: partial(_largest_first, fact.key) for fact in sample_facts()}
    orders = {**_ORDERS, **facts}
    if sort not in orders:
        raise UsageError(f"--sort {sort!r}: known are {', '.join(orders)}")
    chosen = [shown for shown in _all(run) if not kinds or _is_one_of(shown, kinds)]
    return sorted(chosen, key=lambda shown: (orders[sort](shown.row), shown.row.number))


def _all(run: Run) -> list[ChosenSample]:
    samples = samples_by_problem(run.manifest)
    numbers, several = Numbers(samples), max(samples.values(), default=1) > 1
    graded = [
        ChosenSample(
            result_row(result, numbers.of(result.problem_id, result.index), several=several),
            result,
        )
        for result in run.results
    ]
    return graded + [ChosenSample(row) for row in pending_rows(samples, run.results)]


def _is_one_of(shown: ChosenSample, kinds: Sequence[str]) -> bool:
    return any(
        _KINDS[kind](shown) if kind in _KINDS else shown.row.status == kind for kind in kinds
    )


def _graded(shown: ChosenSample) -> bool:
    return shown.result is not None and shown.result.graded


def _largest_first(key: str, row: SampleRow) -> float:
    value = row.figures.get(key)
    return _LAST if value is None else -value
