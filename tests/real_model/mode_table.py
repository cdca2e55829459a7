"""The tables of docs/results.md that compare modes: solved, spent, and what iterating did."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import harness
from harness.errors import RunDirectoryError
from harness.features.compare.spend import spend_comparison
from harness.features.compare.spend_result import SpendDifference
from harness.run.summary.loaded_run import Run, read_run
from harness.run.summary.summary import Summary
from harness.stats.paired import Paired, compare_counts
from harness.stats.pass_at_k import Counts

SETS = {"loop": "HumanEval", "modes": "LiveCodeBench, easy", "demo": "bundled"}
"""Pieces that hold the compared modes, and the problems of each."""
MODES = {
    "shots": "single shot",
    "self_repair": "self-repair, one round",
    "fresh": "loop in text, `fresh` (default)",
    "grow": "loop in text, `grow`",
    "native": "loop, native tools, `grow`",
    "old": "earlier loop",
}
"""What is compared, by the folder of its run, or by another name of it in the demo."""
IN_DEMO = {
    "single_shot-default": "shots",
    "self_repair-default": "self_repair",
    "agentic-default": "fresh",
    "agentic_grow-default": "grow",
    "agentic-old": "old",
}
SHOTS, DEFAULT, REPAIR = "shots", "fresh", "self_repair"
NOT_COUNTED = {SHOTS, "old"}
"""Modes without later requests, and the loop whose results do not count them."""
NONE = ""
TOO_DEAR = "-"
"""In place of a difference to shots where the mode costs more than all shots that were taken."""
CAPTION = """\
What the requests after the first brought. A program is new if its syntax tree differs from those of
all earlier ones of its sample:
"""


@dataclass(frozen=True)
class Measured:
    """A run of a mode, and what it comes to."""

    run: Run
    summary: Summary


def measured(out: Path) -> dict[str, dict[str, Measured]]:
    """Return the finished runs of all pieces, by piece and mode."""
    found: dict[str, dict[str, Measured]] = {}
    for piece in SETS:
        for path in sorted((out / piece).glob("*/results.jsonl")):
            mode = IN_DEMO.get(path.parent.name, path.parent.name)
            run, summary = read_run(path.parent), harness.load_run(path.parent).summary
            if mode in MODES and not any(summary.pending.values()):
                found.setdefault(piece, {})[mode] = Measured(run, summary)
    return found


def tables(out: Path) -> Iterator[str]:
    """Yield the lines of all tables, and what is missing in them."""
    runs = measured(out)
    yield from solved_table(runs)
    yield ""
    yield from iterating_table(runs)
    yield ""
    yield from together(runs)


def solved_table(runs: Mapping[str, Mapping[str, Measured]]) -> Iterator[str]:
    """Yield what each mode solves, and its difference to shots for the same tokens."""
    yield (
        "| problems | mode | solved | tokens a problem | minus k shots "
        "| minus shots until one passes |"
    )
    yield "| --- " * 6 + "|"
    for piece, modes in runs.items():
        for mode in (mode for mode in MODES if mode in modes):
            summary = modes[mode].summary
            rate = summary.pass_at_1
            assert rate is not None
            tokens = summary.usage.total_tokens / max(summary.graded, 1)
            solved = f"{rate.value:.1%}".replace("%", " %")
            interval = f"({rate.low * 100:.1f} to {rate.high * 100:.1f})"
            cells = [
                f"{SETS[piece]} ({summary.problems})",
                MODES[mode],
                f"{solved} {interval}",
                f"{tokens:,.0f}",
            ]
            yield "| " + " | ".join([*cells, *at_equal_spend(modes, mode)]) + " |"


def at_equal_spend(modes: Mapping[str, Measured], mode: str) -> tuple[str, str]:
    """Return a mode's differences to k shots and to shots until one passes, at its spend."""
    if mode == SHOTS or SHOTS not in modes:
        return NONE, NONE
    try:
        compared = spend_comparison(modes[SHOTS].run, modes[mode].run)
    except RunDirectoryError:
        return NONE, NONE
    return difference(compared.differences), difference(compared.until_pass)


def difference(differences: tuple[SpendDifference, ...]) -> str:
    """Return the difference at the mean spend of the second run, in points, with its interval."""
    for each in differences:
        if each.mean_of == "B" and each.low is not None and each.high is not None:
            points = f"{each.difference * 100:+.1f}"
            return f"{points} ({each.low * 100:+.1f} to {each.high * 100:+.1f})"
    return TOO_DEAR


def iterating_table(runs: Mapping[str, Mapping[str, Measured]]) -> Iterator[str]:
    """Yield what the requests after each sample's first brought."""
    yield CAPTION
    yield (
        "| problems | mode | later requests with a new program "
        "| gained, lost | messages without a program |"
    )
    yield "| --- " * 5 + "|"
    for piece, modes in runs.items():
        for mode in (mode for mode in MODES if mode in modes and mode not in NOT_COUNTED):
            summary = modes[mode].summary
            facts, curve = summary.loop, summary.curve
            cells = [
                SETS[piece],
                MODES[mode],
                f"{facts.new_programs:,} of {facts.later:,}",
                f"{curve.gained:,}, {curve.gone:,}" if curve else NONE,
                f"{facts.silent:,}",
            ]
            yield "| " + " | ".join(cells) + " |"


def together(runs: Mapping[str, Mapping[str, Measured]]) -> Iterator[str]:
    """Yield the default loop minus self-repair and minus the first program, over all problems."""
    loop, repair = pooled(runs, DEFAULT), pooled(runs, REPAIR)
    shared = compare_counts(repair, loop)
    yield (
        f"The default loop minus self-repair, on the {shared.problems} problems that both have: "
        f"{words(shared)}."
    )


def words(paired: Paired) -> str:
    """Return a paired difference in points with its interval and its changes."""
    assert paired.low is not None
    assert paired.high is not None
    interval = f"{paired.low * 100:+.1f} to {paired.high * 100:+.1f}"
    changes = f"{len(paired.better_b)} gained, {len(paired.better_a)} lost"
    return f"{paired.difference * 100:+.1f} points ({interval}; {changes})"


def pooled(runs: Mapping[str, Mapping[str, Measured]], mode: str) -> dict[str, Counts]:
    """Return the numbers of samples and of solved ones by problem, over all pieces of the mode."""
    return {
        problem: counts
        for modes in runs.values()
        if mode in modes
        for problem, counts in modes[mode].run.columns.counts.items()
    }
