"""Writes docs/results.md from the pieces that `measure.py` has measured.

    python tests/real_model/results_page.py real-runs

The page says what is not there. What a reader should know beyond the figures is in
`remarks/PIECE.md`, and is added to the piece's section.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import PIECES, RECORD

import harness
from harness.stats.rates import Rate

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "results.md"
REMARKS = HERE / "remarks"
PUBLISHED = {"humaneval-single": 70.7, "mbpp-single": 69.2}
"""Per cent, pass@1 of the unquantised model in Qwen2.5-Coder's technical report."""
INTRODUCTION = """\
# Results of a real model

Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), quantised to Q4_K_M, behind llama.cpp's server.
`tests/real_model/` gets both from two packages, measures in pieces that can be resumed, and writes
this page; answers to bundled problems are in `tests/real_model/answers/`. Intervals are at 95 %.
The server had one or two cores, beside other work: minutes say little.
"""
SERVER_FLAGS = "llama-server --jinja -sps 0 -np {slots} -c {context}"
TUNING = "tune.json"
SHOWN = {"experiment.json": "experiment", TUNING: "tune"}
"""Features whose own screen is shown, by the file that a result of theirs has."""
WIDTH = 118
NONE = "-"
MOST_NAMED = 4
"""Most problems that a command on the page names."""


def page(out: Path) -> str:
    """Return the page for the pieces in a folder."""
    parts = [INTRODUCTION]
    there = [name for name in PIECES if is_measured(out / name)]
    parts += ["\n".join(section(name, out / name)) for name in there]
    missing = [f"- {name}: {piece.about}" for name, piece in PIECES.items() if name not in there]
    if missing:
        parts.append("## Not measured yet\n\n" + "\n".join(missing) + "\n")
    return "\n".join(parts)


def is_measured(folder: Path) -> bool:
    """Whether a command of the piece has ended."""
    record = folder / RECORD
    return record.exists() and bool(json.loads(record.read_text())["results"])


def section(name: str, folder: Path) -> Iterator[str]:
    """Yield the lines of a piece's section."""
    record: dict[str, Any] = json.loads((folder / RECORD).read_text())
    about = PIECES[name].about
    yield f"## {about[0].upper()}{about[1:]}\n"
    if runs(folder):
        yield from table(name, folder, record)
    for result in sorted(record["results"]):
        for file, feature in SHOWN.items():
            if (folder / result / file).exists():
                yield f"`{name}/{result}`, as `harness {feature} show` prints it:\n"
                yield f"```\n{shown(folder / result, feature)}\n```\n"
    if (remark := REMARKS / f"{name}.md").exists():
        yield remark.read_text().strip() + "\n"
    yield from commands(record)


def table(name: str, folder: Path, record: dict[str, Any]) -> Iterator[str]:
    """Yield the table of a piece's runs."""
    published = PUBLISHED.get(name)
    head = ["run", "problems", "samples", "solved", "95 % interval", "requests"]
    head += ["tokens in", "tokens out", "minutes"]
    head += [] if published is None else ["published"]
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " --- |" * (len(head) - 1)
    for path in runs(folder):
        summary = harness.load_run(path).summary
        usage = summary.usage
        row = [
            str(path.relative_to(folder)) if path != folder / "run" else name,
            str(summary.problems),
            f"{summary.graded}" + pending(summary.pending),
            *rate(summary.pass_at_1),
            f"{summary.model_calls:,}",
            f"{usage.input_tokens:,}",
            f"{usage.output_tokens:,}",
            minutes(path, folder, record),
        ]
        row += [] if published is None else [f"{published} %"]
        yield "| " + " | ".join(row) + " |"
    yield ""


def runs(folder: Path) -> list[Path]:
    """Return the run directories of a piece, also those within an experiment; none of a tuning."""
    tunings = [path.parent for path in folder.rglob(TUNING)]
    directories = (path.parent for path in folder.rglob("run.json"))
    return sorted(
        run for run in directories if not any(run.is_relative_to(each) for each in tunings)
    )


def rate(value: Rate | None) -> tuple[str, str]:
    """Return a rate and its interval in per cent."""
    if value is None:
        return NONE, NONE
    return f"{value.value:.1%}".replace(
        "%", " %"
    ), f"{value.low * 100:.1f} to {value.high * 100:.1f}"


def pending(counts: dict[Any, int]) -> str:
    """Return how many samples are pending, in words; none that equal spend does not need."""
    left = sum(number for reason, number in counts.items() if reason != "not_needed")
    return f", {left} pending" if left else ""


def minutes(path: Path, folder: Path, record: dict[str, Any]) -> str:
    """Return the minutes that all starts of a run took; of an experiment's variants, none alone."""
    own = record["results"].get(path.name) if path.parent == folder else None
    return NONE if own is None else f"{sum(start['seconds'] for start in own['starts']) / 60:.0f}"


def shown(folder: Path, feature: str) -> str:
    """Return what `harness FEATURE show` prints of an experiment or a tuning."""
    command = [sys.executable, "-m", "harness", feature, "show", folder.name]
    done = subprocess.run(
        command,
        cwd=folder.parent,
        env={"COLUMNS": str(WIDTH), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def commands(record: dict[str, Any]) -> Iterator[str]:
    """Yield the commands of a piece, the server's settings, and when it was measured."""
    yield "```sh"
    server: dict[str, Any] = record.get("server") or {}
    if server.get("slots"):
        context = server["slots"] * server["context_of_a_slot"]
        yield SERVER_FLAGS.format(slots=server["slots"], context=context)
    for own in record["results"].values():
        yield " ".join(["harness", *shortened(own["command"])])
    yield "```\n"
    starts = [start for own in record["results"].values() for start in own["starts"]]
    days = sorted({start["started"][:10] for start in starts})
    whole = sum(start["seconds"] for start in starts) / 60
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    yield f"Measured on {when}, {whole:.0f} minutes in all.\n"


def shortened(command: list[str]) -> list[str]:
    """Return a command with a long list of problems (`-t`) cut and put last, as a comment."""
    places = [place for place, word in enumerate(command) if word == "-t"]
    if len(places) <= MOST_NAMED:
        return command
    left_out = {*places, *(place + 1 for place in places)}
    rest = [word for place, word in enumerate(command) if place not in left_out]
    return [*rest, *command[places[0] : places[0] + 2], f"# and {len(places) - 1} more problems"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the pieces, as for measure.py")
    parser.add_argument("--to", type=Path, default=PAGE, help="the page")
    given = parser.parse_args()
    given.to.write_text(page(given.out.resolve()))


if __name__ == "__main__":
    main()
