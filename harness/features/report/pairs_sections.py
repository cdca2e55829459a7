"""Sections with the pairs of runs that differ in one setting."""

from collections.abc import Iterator, Sequence
from typing import Any

from harness.features.compare.comparison import LEVEL
from harness.features.report import answer_charts
from harness.features.report.figures import PageItem, Section, Table
from harness.features.report.labelled_runs import Pairing
from harness.figures import p_value
from harness.run.summary.loaded_run import mode_words
from harness.text import printable_line

KINDS = (
    ("mode", "Mode against mode, with the same prompt and model"),
    ("prompt", "Prompt against prompt, in the same mode"),
    ("model", "Model against model, in the same mode"),
)
MOST_PAIRS = 40


def pairs_sections(pairs: Sequence[Pairing]) -> Iterator[Section]:
    """Yield a section for each setting in which at least two pairs of runs differ."""
    for key, title in KINDS:
        own = [pair for pair in pairs if pair.factors == (key,)][:MOST_PAIRS]
        if own and len(pairs) > 1:
            yield Section(f"by-{key}", title, "", (_differences(key, own),))


def _differences(key: str, pairs: Sequence[Pairing]) -> PageItem:
    rows = [_difference(key, pair) for pair in pairs]
    about = (
        "The difference of pass@1 over the problems that both runs graded, with its 95 % interval; "
        "interval and p are corrected by Holm for the pairs of this kind."
    )
    table = Table(
        ("pair", "difference", "95 % interval", "problems", "p"),
        tuple(
            (row["pair"], f"{row['difference']:+.1f}", f"{row['low']:+.1f} to {row['high']:+.1f}",
             f"{pair.paired.problems:,}", p_value(pair.p_value))
            for row, pair in zip(rows, pairs, strict=True)
        ),
    )  # fmt: skip
    chart = answer_charts.differences(rows, about)
    return PageItem(f"differences-{key}", "Differences", about, table, chart)


def _difference(key: str, pair: Pairing) -> dict[str, Any]:
    other, base = (_value(key, side.setting(key)) for side in (pair.other, pair.base))
    rest = [_value(name, pair.other.setting(name)) for name, _ in KINDS if name != key]
    return {
        "pair": f"{other} - {base} ({', '.join(rest)})",
        "difference": 100 * pair.paired.difference,
        "low": 100 * pair.low,
        "high": 100 * pair.high,
        "decided": "decided" if pair.p_value < LEVEL else "chance could do this",
    }


def _value(key: str, value: str) -> str:
    return mode_words(value) if key == "mode" else printable_line(value)
