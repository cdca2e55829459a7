"""Summary of an experiment: a sentence on each pair of cells at equal spend."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import RunDirectoryError, UsageError
from harness.features.compare.spend import spend_comparison
from harness.features.experiment.shots import SINGLE_SHOT, agents_of
from harness.models.protocol import Frozen
from harness.run.store.directory import MANIFEST
from harness.run.summary.loaded_run import read_run

MOST = 20
"""Most pairs that are compared at equal spend."""


class Answer(Frozen):
    """Two cells at equal spend.

    Attributes:
        baseline, cell: names of the cells.
        sentence: the sentence of `harness.features.compare.spend.spend_comparison`.
    """

    baseline: str
    cell: str
    sentence: str


def answers_of(
    path: Path, cells: Mapping[str, Mapping[str, Any]], baseline: str
) -> tuple[Answer, ...]:
    """Compare each pair of cells that can be compared at equal spend.

    Args:
        path: the experiment's directory.
        cells: spec of each cell by name.
        baseline: name of the baseline.
    """
    found: list[Answer] = []
    for first, second in _pairs(cells, baseline):
        if not all((path / name / MANIFEST).exists() for name in (first, second)):
            continue
        try:
            compared = spend_comparison(read_run(path / first), read_run(path / second))
        except (RunDirectoryError, UsageError):  # nothing in both is graded, or no spend is known
            continue
        found.append(Answer(baseline=first, cell=second, sentence=compared.sentence))
        if len(found) == MOST:
            break
    return tuple(found)


def _pairs(cells: Mapping[str, Mapping[str, Any]], baseline: str) -> Iterator[tuple[str, str]]:
    """Yield single shot with each comparable mode, or else the only two cells."""
    shots = [name for name, spec in cells.items() if spec["mode"] == SINGLE_SHOT]
    pairs = [(shot, agent) for shot in shots for agent in agents_of(cells[shot], cells)]
    if pairs:
        yield from pairs
    elif len(cells) == 2:  # noqa: PLR2004 - a pair
        yield baseline, next(name for name in cells if name != baseline)
