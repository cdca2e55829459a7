"""Kills runs with -9 at random moments, goes on with them, and counts what was asked twice.

    python tests/benchmarks/kills.py [--kills 200] [--seed 0]

Each run is 40 samples (the bundled problems, twice) in the agent loop, against a loopback server
that counts its requests. Printed are the kills, how many hit before the first request, how many
recorded responses there were at those moments, and how many of these were requested again: none
may be.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

from chat_server import Solver
from crashes import Asked, kill_and_go_on

ROWS = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
SAMPLES = 2
LONGEST_S = 0.8
KILLS_OF_A_RUN = 25


async def main() -> int:
    """Kill as often as told; returns 1 if anything was lost or asked twice."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    solver = Solver({row["title"]: ["print(0)", row["references"][0]] for row in rows})
    titles = {row["id"]: row["title"] for row in rows}
    wanted = sorted(f"{row['id']}#{index}" for row in rows for index in range(SAMPLES))
    kills = early = recorded = again = runs = lost = requests = needed = 0
    while kills < flags.kills:
        with tempfile.TemporaryDirectory() as folder:
            seen = await kill_and_go_on(
                Path(folder),
                Asked(solver),
                titles,
                kills=min(KILLS_OF_A_RUN, flags.kills - kills),
                samples_per_problem=SAMPLES,
                seed=flags.seed + runs,
                longest_s=LONGEST_S,
            )
        runs += 1
        kills, early, recorded = kills + seen.kills, early + seen.early, recorded + seen.recorded
        again, lost = again + len(seen.again), lost + (seen.results != wanted)
        requests, needed = requests + seen.requests, needed + seen.needed
        print(f"run {runs}: {seen.kills} kills, {len(seen.results)} results", flush=True)
    print(f"kills                     {kills}, {early} of them before the first request")
    print(f"recorded responses seen   {recorded}")
    print(f"requested again           {again}")
    print(f"requests                  {requests}; {needed} would do without a kill")
    print(f"runs not whole in the end {lost} of {runs}")
    return 1 if again or lost else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
