"""Round trip of generated tool calls, more of them than the tests take.

python tests/benchmarks/round_trip.py [--calls 10000]
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from generated_calls import FORMATS, TOOLS, odd_text, program

from harness.models.text_tools.reader import read_calls


def lost(name: str, calls: int) -> int:
    """Return how many of a format's calls do not come back as they were written."""
    written, wrong = FORMATS[name], 0
    for number in range(calls):
        rng = random.Random(f"{name}/{number}")
        code = odd_text(rng) if written.exact and number % 3 == 0 else program(rng)
        parsed_calls = read_calls(written.write(code), TOOLS).calls
        expected = {"code": written.expected(code)}
        wrong += not parsed_calls or json.loads(parsed_calls[0].arguments) != expected
    return wrong


def main() -> None:
    """Print each format's calls that were lost, and the CPU time of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000, help="calls of each format")
    calls = parser.parse_args().calls
    total = 0
    for name in FORMATS:
        started = time.process_time()
        wrong = lost(name, calls)
        total += wrong
        spent = 1000 * (time.process_time() - started) / calls
        print(f"{name:32} {wrong:6,} of {calls:,} lost  {spent:.2f} ms")
    print(f"{len(FORMATS)} formats, {total:,} of {calls * len(FORMATS):,} lost")


if __name__ == "__main__":
    main()
