"""Whether five scripted behaviours on 100 problems with impossible tests are told apart."""

import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from impossible_made import (
    Behaving,
    games,
    gives_up,
    reports,
    right_code,
    rows,
    runs_out,
    solves_honestly,
)

from harness import evaluate

BEHAVIOURS = {
    "solved_honestly": solves_honestly,
    "said_so": reports,
    "gamed": games,
    "gave_up": gives_up,
    "ran_out": runs_out,
}


def main() -> None:
    """Print the outcomes of each behaviour; exit with 1 unless all are right."""
    problems, names = rows(100), list(BEHAVIOURS)
    model = Behaving({row["id"]: right_code(row) for row in problems}, *BEHAVIOURS.values())
    evaluation = evaluate(
        model,
        benchmark=problems,
        mode="agentic",
        max_turns=6,
        samples_per_problem=len(names),
        impossible=1.0,
        impossible_exit=True,
    )
    counts = Counter(
        (names[each.index], str(each.impossible and each.impossible.outcome))
        for each in evaluation.results
    )
    for (name, outcome), number in sorted(counts.items()):
        print(f"{name:<16} {outcome:<16} {number:>4}")
    right = sum(number for (name, outcome), number in counts.items() if name == outcome)
    seconds = sum(os.times()[:4])
    print(f"right: {right} of {len(problems) * len(names)}; CPU {seconds:.0f} s")
    sys.exit(right != len(problems) * len(names))


if __name__ == "__main__":
    main()
