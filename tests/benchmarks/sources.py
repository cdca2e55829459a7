"""How long LiveCodeBench takes to fetch, to list and to filter, and how much memory that needs.

A data set of its real shape is made: 1,055 rows over six files, hidden tests compressed as upstream
does, a few of them very large. It is served by a loopback hub and used through the program, each
step in a process of its own.

    python tests/benchmarks/sources.py [--gigabytes 2.2]
"""

import argparse
import base64
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
import zlib
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from cost import table
from hub_server import Hub
from program import PROGRAM

ROWS = {
    "test.jsonl": 400,
    "test2.jsonl": 111,
    "test3.jsonl": 101,
    "test4.jsonl": 101,
    "test5.jsonl": 167,
    "test6.jsonl": 175,
}
# A process starts with the peak of the one that spawned it, so that a small one has to.
SPAWN = """
import os, resource, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
code = os.waitstatus_to_exitcode(os.wait4(child, 0)[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
REPO = "livecodebench/code_generation_lite"
FIRST_DAY = date(2023, 5, 1)
SHARE = 0.026  # of the encoded tests, the random bytes of one of them
LEVELS = ("easy", "medium", "hard")
# Of the bytes of all hidden tests, the share that such a row has, and how often it comes.
SIZES = ((0.0, 50), (0.0002, 30), (0.002, 15), (0.005, 5))
MODEL = "def solve(problem): return 'print(input())'\n"


class Step(NamedTuple):
    """What a command took."""

    name: str
    seconds: float
    megabytes: float
    said: str


def encoded(size: int, seed: int) -> str:
    """Hidden tests of a program that repeats its input: about so many bytes when encoded."""
    noise = random.Random(seed)
    texts = [noise.randbytes(int(size * SHARE) + 16).hex() for _ in range(12)]
    tests = [{"input": text, "output": text, "testtype": "stdin"} for text in texts]
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)), 1)).decode()


def make(folder: Path, gigabytes: float) -> int:
    """Write the files; returns their size in bytes."""
    order = random.Random(1)
    unit = gigabytes * 1e9 / (sum(share * often for share, often in SIZES) / 100) / 1055
    pools = [
        [encoded(int(share * unit) + 2_000, 10 * place + n) for n in range(3)]
        for place, (share, _) in enumerate(SIZES)
    ]
    public = [{"input": f"{n}\n", "output": f"{n}\n", "testtype": "stdin"} for n in range(3)]
    number = 0
    for name, count in ROWS.items():
        with (folder / name).open("w") as file:
            for _ in range(count):
                (pool,) = order.choices(pools, [often for _, often in SIZES])
                row = {
                    "question_title": f"Repeat {number}",
                    "question_content": f"Print the input, problem {number}. " * 60,
                    "platform": "atcoder",
                    "question_id": f"abc{number}",
                    "contest_id": "abc",
                    "contest_date": f"{FIRST_DAY + timedelta(days=number * 2 // 3)}T00:00:00",
                    "starter_code": "",
                    "difficulty": LEVELS[number % 3],
                    "public_test_cases": json.dumps(public),
                    "private_test_cases": order.choice(pool),
                    "metadata": "{}",
                }
                file.write(json.dumps(row) + "\n")
                number += 1
    return sum((folder / name).stat().st_size for name in ROWS)


def step(name: str, env: dict[str, str], folder: Path, *arguments: str) -> Step:
    """Run the program; its peak memory is its own and no child's."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SPAWN, PROGRAM, *arguments],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return Step(name, seconds, int(done.stderr.split()[-1]) * 1024 / 1e6, lines[-1][:60])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, cache = folder / "data", folder / "cache"
        data.mkdir()
        size = make(data, options.gigabytes)
        largest = max(len(line) for file in data.iterdir() for line in file.open("rb"))
        print(f"{sum(ROWS.values())} rows, {size / 1e9:.2f} GB, the largest {largest / 1e6:.1f} MB")
        (folder / "mine.py").write_text(MODEL)
        files = {each: data / each for each in ROWS}
        with Hub({REPO: {"a" * 40: files}}) as hub:
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "COLUMNS": "200",
                "HF_HOME": str(cache),
                "HF_ENDPOINT": hub.endpoint,
            }
            steps = [step("fetch, and the first reading", env, folder, "fetch", "livecodebench")]
        for kept in (cache / "assets").rglob("*.jsonl"):
            kept.unlink()
        listing = ("problems", "livecodebench")
        few = ("--filter-difficulty", "hard", "--min-release-date", "2024-09-01")
        steps += [
            step("list, the first time", env, folder, *listing),
            step("list, the second time", env, folder, *listing),
            step("filter by date and difficulty", env, folder, *listing, *few),
            step("one problem", env, folder, "problems", "livecodebench/abc7", "-b", listing[1]),
            *(
                step(f"run {n} samples", env, folder, *RUN, "-n", f"{n}", "--out", f"r{n}")
                for n in (20, 200)
            ),
        ]
    rows = [[s.name, f"{s.seconds:.2f} s", f"{s.megabytes:.0f} MB", s.said] for s in steps]
    print(table(["", "time", "peak memory", "last line"], rows))


RUN = ("run", "-b", "livecodebench", "-m", "python:mine:solve", "--sampling", "random")

if __name__ == "__main__":
    main()
