"""Experiments that end early: whether each still answers, and if both arms spend the same.

    python tests/benchmarks/early_ends.py [--experiments 30] [--seed 0]

Each experiment on a scripted model ends by a budget, an interrupt at a random request,
`--stop-when-decided`, or by itself. Its answer is compared with the figures in its run directories.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from scripted_experiments import Ended, ScriptedModel, carry_out, write_problems

PROBLEMS = 20
KINDS = ("budget", "interrupt", "early stop", "whole")


async def one(folder: Path, kind: str, seed: int) -> Ended:
    """Run one experiment to its end."""
    draw = random.Random(seed)
    model = ScriptedModel(seed, draw.randint(30, 110) if kind == "interrupt" else None)
    flags = {
        "budget": ["--max-cost", f"{draw.uniform(0.3, 1.6):.3f}"],
        "early stop": ["--stop-when-decided", "--level", "0.3"],
    }.get(kind, [])
    return await carry_out(folder, f"{kind.replace(' ', '-')}-{seed}", model, flags)


def main() -> None:
    """Carry out the experiments and print a line for each."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--experiments", type=int, default=30)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    worst, unanswered = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="early-ends-") as folder:
        write_problems(Path(folder), PROBLEMS)
        for number in range(asked.experiments):
            kind = KINDS[number % len(KINDS)]
            ended = asyncio.run(one(Path(folder), kind, asked.seed + number))
            worst = max(worst, abs(ended.apart))
            unanswered += not ended.sentence.startswith("For ")
            print(
                f"{number:>3} {kind:<10} exit {ended.code:>3}  {ended.whole:>2} whole, "
                f"{ended.compared:>2} compared, shots {ended.apart:+.2f} apart  {ended.sentence}",
                flush=True,
            )
    print(f"largest difference {worst:.2f} shots a problem; without an answer: {unanswered}")


if __name__ == "__main__":
    main()
