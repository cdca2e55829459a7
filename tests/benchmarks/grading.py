"""What a graded test costs: this judge, its floors, what is usual, and LiveCodeBench's grader.

Every variant is measured in a process of its own, once a round, the rounds in shuffled order: on a
machine whose pace changes, ratios within a round are what can be believed.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import floors
import workload
from cost import Cost, FailedError, Spread, measured, table
from levels import LEVELS
from sound import CORES, HERE, Sound, sound, upstream

from harness.sources.preambles import LIVECODEBENCH

SPAWN = "python3 -I -S a test, LiveCodeBench's imports"
PYTHON_FORK = "os.fork in Python, the imports loaded"
SPAWNED_TESTS = 120
ISOLATED_SOLUTIONS = 25


@dataclass(frozen=True, slots=True)
class Variant:
    """Something to measure: its name, what it grades, and the program that does."""

    name: str
    suite: str
    command: list[str]


Rounds = list[dict[tuple[str, str], Cost]]
"""A round: (name, suite) -> cost."""


def main() -> None:
    """Measure and print."""
    options = _options()
    data = options.data or os.environ.get("HARNESS_TEST_DATA")
    if not data:
        sys.exit("no real rows: give --data FOLDER or set HARNESS_TEST_DATA")
    _say("choosing rows")
    rows = sound(workload.candidates(Path(data), options.tests), options.solutions, options.lcb)
    with tempfile.TemporaryDirectory() as made:
        variants, skipped = _variants(rows, Path(made), options.level or [*LEVELS], options.lcb)
        rounds = _measure(variants, skipped, options.rounds)
    if options.json:
        print(json.dumps(_as_data(rows, variants, rounds, skipped), indent=1))
    else:
        _print(rows, variants, rounds, skipped)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="the folder of real rows; default: $HARNESS_TEST_DATA")
    parser.add_argument("--tests", type=int, default=20, help="at most so many of a solution")
    parser.add_argument("--solutions", type=int, default=100, help="at most so many of a suite")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lcb", type=Path, help="a folder that holds lcb_runner/evaluation")
    parser.add_argument(
        "--level", action="append", choices=LEVELS, help="may be repeated; default: all"
    )
    parser.add_argument("--json", action="store_true", help="every figure, and no table")
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _variants(
    rows: Sound, folder: Path, levels: Sequence[str], lcb: Path | None
) -> tuple[list[Variant], dict[str, str]]:
    """What is measured, and why what is not is not."""
    suites = folder / "suites.json"
    firsts = {
        f"{name}, one": [replace(row, tests=row.tests[:1]) for row in some]
        for name, some in rows.suites.items()
    }
    few = {
        f"{name}, few": workload.spread(some, ISOLATED_SOLUTIONS)
        for name, some in rows.suites.items()
    }
    workload.write({**rows.suites, **firsts, **few}, suites)
    skipped: dict[str, str] = {}
    variants = [
        Variant("os.fork in Python, small", "", floors.python_fork()),
        Variant(PYTHON_FORK, "", floors.python_fork(LIVECODEBENCH)),
    ]
    try:
        variants.insert(0, Variant("fork in C", "", floors.c_fork(folder)))
    except FailedError as error:
        skipped["fork in C"] = str(error)
    spawn = [sys.executable, str(HERE / "floors.py"), str(suites), "stdin", str(SPAWNED_TESTS)]
    variants.append(Variant(SPAWN, "stdin", spawn))
    for name in rows.suites:
        variants += _upstream(lcb, suites, name) if lcb else ()
        variants += [each for level in levels for each in _judge(suites, name, level)]
    return variants, skipped


def _upstream(lcb: Path, suites: Path, name: str) -> Iterator[Variant]:
    for processes in _counts():
        yield Variant(_lcb(processes), name, upstream(lcb, suites, name, processes))


def _lcb(processes: int) -> str:
    return f"LiveCodeBench, processes: {processes}"


def _judge(suites: Path, name: str, level: str) -> Iterator[Variant]:
    def variant(mode: str, suite: str = name, workers: int = 1) -> Variant:
        program = [sys.executable, str(HERE / "judging.py"), str(suites)]
        title = f"{mode}, workers: {workers}" if mode == "pool" else mode
        command = [*program, suite, mode, level, str(workers)]
        return Variant(_ours(title, level), name, command)

    yield variant("batch")
    yield variant("bare")
    yield variant("single", f"{name}, one")
    yield variant("isolate", f"{name}, few")
    for workers in _counts():
        yield variant("pool", workers=workers)


def _ours(mode: str, level: str) -> str:
    titles = {
        "batch": "batch",
        "bare": "batch without confirmation and re-check",
        "single": "one-test solutions",
        "isolate": "a process a test",
    }
    return f"{level}: {titles.get(mode, mode)}"


def _counts() -> list[int]:
    """How many workers: 1, 2, 4 and so on to the cores."""
    return [*(1 << power for power in range(CORES.bit_length()) if 1 << power < CORES), CORES]


def _measure(variants: Sequence[Variant], skipped: dict[str, str], number: int) -> Rounds:
    rounds: Rounds = []
    for place in range(number):
        costs: dict[tuple[str, str], Cost] = {}
        for each in random.sample(variants, len(variants)):
            title = f"{each.name} ({each.suite})" if each.suite else each.name
            if title in skipped:
                continue
            _say(f"round {place + 1} of {number}: {title}")
            try:
                costs[each.name, each.suite] = measured(each.command)
            except FailedError as error:
                skipped[title] = str(error)
        rounds.append(costs)
    return rounds


def _ratios(
    rounds: Rounds,
    above: tuple[str, str],
    below: tuple[str, str],
    figure: Callable[[Cost], float] = lambda cost: cost.cpu_ms,
) -> Spread | None:
    """A figure of one variant through that of another, within each round."""
    ratios = [figure(r[above]) / figure(r[below]) for r in rounds if above in r and below in r]
    return Spread.of(ratios) if ratios else None


def _text(spread: Spread | None) -> str:
    return spread.text() if spread else "-"


def _print(
    rows: Sound, variants: Sequence[Variant], rounds: Rounds, skipped: dict[str, str]
) -> None:
    for name, some in rows.suites.items():
        print(f"{name}: {len(some)} solutions, {workload.count(some)} tests")
    for reason, number in rows.dropped.items():
        print(f"dropped: {number} problems, {reason}")
    print(f"{len(rounds)} rounds on {CORES} cores; median [least..most]")
    for suite in ("", *rows.suites):
        print(f"\n{suite or 'floors'}")
        print(_table([each for each in variants if each.suite == suite], rounds))
    print("\ntargets")
    print(table(("figure", "is", "wanted"), _targets(rounds)))
    for title, reason in skipped.items():
        print(f"\nskipped: {title}: {reason}")


def _table(variants: Sequence[Variant], rounds: Rounds) -> str:
    head = ("variant", "tests", "tests/s", "CPU ms/test", "x spawn", "x LiveCodeBench", "seen")
    lines: list[list[str]] = []
    for each in variants:
        key = each.name, each.suite
        costs = [costs[key] for costs in rounds if key in costs]
        if not costs:
            continue
        seen = [cost.seen_s / cost.cpu_s for cost in costs if cost.seen_s is not None]
        peer = (_lcb(1), each.suite)
        lines.append(
            [
                each.name,
                str(costs[0].tests),
                Spread.of([cost.per_second for cost in costs]).text(),
                Spread.of([cost.cpu_ms for cost in costs]).text(),
                _text(_ratios(rounds, (SPAWN, "stdin"), key)),
                _text(_ratios(rounds, peer, key)),
                f"{100 * Spread.of(seen).median:.0f}%" if seen else "-",
            ]
        )
    return table(head, lines)


def _targets(rounds: Rounds) -> list[list[str]]:
    """DESIGN's figures for each level; CPU, but for the growth with workers, which is wall time."""
    lines: list[list[str]] = []
    for level in LEVELS:
        for suite, most_ms, through in (("stdin", 0.6, 5), ("functional", 0.45, 3)):
            batch = (_ours("batch", level), suite)
            if not any(batch in costs for costs in rounds):
                continue
            own = [costs[batch].cpu_ms for costs in rounds if batch in costs]
            isolated = (_ours("isolate", level), suite)
            pools = [(_ours(f"pool, workers: {number}", level), suite) for number in (1, 2)]
            title = f"{level}, {suite}:"
            lines += [
                [f"{title} CPU ms a test", Spread.of(own).text(), f"<= {most_ms}"],
                [
                    f"{title} x LiveCodeBench",
                    _text(_ratios(rounds, (_lcb(1), suite), batch)),
                    f">= {through}",
                ],
                [
                    f"{title} x spawn",
                    _text(_ratios(rounds, (SPAWN, "stdin"), batch)),
                    ">= 50",
                ],
                [
                    f"{title} a process a test / Python's fork",
                    _text(_ratios(rounds, isolated, (PYTHON_FORK, ""))),
                    "<= 2.5",
                ],
                [
                    f"{title} two workers / one",
                    _text(_ratios(rounds, pools[1], pools[0], lambda cost: cost.per_second)),
                    ">= 1.8",
                ],
            ]
    return lines


def _as_data(
    rows: Sound, variants: Sequence[Variant], rounds: Rounds, skipped: dict[str, str]
) -> dict[str, object]:
    return {
        "cores": CORES,
        "suites": {
            name: {"solutions": len(some), "tests": workload.count(some)}
            for name, some in rows.suites.items()
        },
        "dropped": rows.dropped,
        "skipped": skipped,
        "variants": [
            {
                "name": each.name,
                "suite": each.suite,
                "rounds": [
                    {
                        "tests": cost.tests,
                        "wall_ms": cost.wall_ms,
                        "cpu_ms": cost.cpu_ms,
                        "seen_ms": None if cost.seen_s is None else 1000 * cost.seen_s / cost.tests,
                    }
                    for costs in rounds
                    if (cost := costs.get((each.name, each.suite)))
                ],
            }
            for each in variants
        ],
        "targets": _targets(rounds),
    }


if __name__ == "__main__":
    main()
