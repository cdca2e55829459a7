"""`compare`: runs side by side, from their directories or as they were evaluated."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import RenderableType

from harness.errors import UsageError
from harness.features.compare.comparison import LABELS, Comparison, compare_read
from harness.features.compare.view import comparison_view
from harness.features.evaluate.evaluation import Evaluation
from harness.run.summary.loaded_run import Run, read_run
from harness.terminal.notebook import Shown

Compared = str | Path | Evaluation
"""The directory of a run, or what `evaluate` returned."""


class RunComparison(Shown, Comparison):
    """What `harness compare --json` has: `runs`, and in `versus` each against the baseline.

    `model_dump_json()` is that JSON.
    """

    def view(self) -> RenderableType:
        """The tables of `harness compare`."""
        return comparison_view(self)

    def __repr__(self) -> str:
        return f"<RunComparison of {len(self.runs)} runs, baseline {self.baseline}>"


def compare(
    run_a: Compared,
    run_b: Compared,
    *others: Compared,
    baseline: Compared | None = None,
    at: Sequence[float] | None = None,
) -> RunComparison:
    """Pair runs by problem: rates, difference and test, equal spend, flips, tokens, cost and time.

    Args:
        run_a: a run; the baseline, unless that is said.
        run_b: another.
        others: more.
        baseline: which of them the others stand against, or one more, which then comes first.
        at: what both spend a problem where they are compared at equal spend, in US dollars, or in
            tokens or model calls where costs are unknown; what a sample of each run spends where
            not given. The result is `spend` in `versus`.

    Raises:
        RunDirectoryError: one is no run, or shares no graded problem with the baseline.
        UsageError: there are too many, or a spend cannot be compared.
    """
    given: list[Compared] = [run_a, run_b, *others]
    place = _place(given, baseline)
    if place is None and baseline is not None:
        given, place = [baseline, *given], 0
    if len(given) > len(LABELS):
        raise UsageError(f"compare(): give {len(LABELS)} runs at most")
    found = compare_read([_read(each) for each in given], place or 0, at)
    return RunComparison.model_construct(**dict(found))


def _place(given: Sequence[Compared], baseline: Compared | None) -> int | None:
    wanted = _key(baseline)
    return next((place for place, each in enumerate(given) if _key(each) == wanted), None)


def _key(given: Compared | None) -> object:
    return Path(given).resolve() if isinstance(given, str | Path) else id(given)


def _read(given: Compared) -> Run:
    if isinstance(given, Evaluation):
        return given.run
    if isinstance(given, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance] - theirs
        return read_run(Path(given))
    kind = type(given).__name__
    raise UsageError(f"compare(): a {kind} is no run; give a directory or what evaluate returned")
