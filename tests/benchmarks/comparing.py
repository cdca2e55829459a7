"""What `harness compare` costs on two large runs: seconds of CPU, and where they go.

    python tests/benchmarks/comparing.py [--samples N] [--a-problem K] [--program P ...]
    python tests/benchmarks/comparing.py --profile
    python tests/benchmarks/comparing.py --keep FOLDER

One run is a single shot a sample, the other one to four revisions of an agent; each result has ten
tests and 1 KB of code, and each sample has a transcript. `--program` names further `harness`
programs, which are measured in turn with this one; the answers of all must be the same.
"""

import argparse
import contextlib
import cProfile
import hashlib
import io
import json
import pstats
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer
from cost import table

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from runs_made import manifest, result

SAMPLES, ROUNDS, TESTS = 10_000, 5, 10
PROGRAM = str(Path(sys.executable).with_name("harness"))
TAGS = ("math", "greedy", "graphs", "strings", "dp", "trees", "sorting", "geometry")
DAYS = ("2024-05-03", "2024-06-10", "2024-09-21", "2025-01-02", "2025-02-14", None)
CODE = "import sys\n\n\ndef solve(numbers):\n" + "    total = sum(numbers)\n" * 40


def made(folder: Path, name: str, samples: int, a_problem: int, *, agentic: bool) -> Path:
    """A run of that many samples."""
    run = folder / name
    (run / "transcripts").mkdir(parents=True)
    noise = random.Random(name)
    problems = [f"made/problem-{number}" for number in range(samples // a_problem)]
    spec = {"mode": "agentic" if agentic else "single_shot", "model": "made"}
    head = manifest(problems, samples=a_problem, **spec)
    (run / "run.json").write_text(json.dumps(head))
    with (run / "results.jsonl").open("w") as file:
        for index in range(a_problem):
            for number, problem in enumerate(problems):
                row = _row(noise, problem, number, index, agentic=agentic)
                file.write(json.dumps(row) + "\n")
                encoded = problem.replace("/", "%2F")
                (run / "transcripts" / f"{encoded}-{index}.jsonl").write_text("")
    return run


def _row(
    noise: random.Random, problem: str, number: int, index: int, *, agentic: bool
) -> dict[str, Any]:
    writes = noise.randint(1, 4) if agentic else 1
    solved = noise.random() < (0.6 if agentic else 0.5) - (number % 3) * 0.15
    public = 3 if solved or noise.random() < 0.4 else 1
    verdict = "accepted" if solved else "wrong_answer"
    test = {"verdict": verdict, "public": False, "cpu_s": 0.0123, "wall_s": 0.0234}
    steps = [
        {
            "turn": step + 1,
            "tokens": 1_200 * (step + 1),
            "cost": 0.0021 * (step + 1),
            "seconds": 2.5 * (step + 1),
            "public_passed": public if step == writes - 1 else 1,
            "passes_public": step == writes - 1 and public == 3,
            "solved": solved and step == writes - 1,
        }
        for step in range(writes)
    ]
    return result(
        problem,
        index,
        difficulty=("easy", "medium", "hard")[number % 3],
        platform=("leetcode", "atcoder")[number % 2],
        tags=[TAGS[number % 8], TAGS[number // 8 % 8]],
        release_date=DAYS[number % 6],
        verdict=verdict,
        public_passed=public,
        public_total=3,
        hidden_passed=7 if solved else noise.randint(0, 6),
        hidden_total=7,
        tests=[test] * TESTS,
        code=CODE,
        model_calls=writes,
        tool_calls=2 * writes if agentic else 0,
        written=writes,
        steps=steps,
        usage={"input_tokens": 1_000 * writes, "output_tokens": 200 * writes},
        cost=0.0021 * writes + noise.random() / 1_000,
        seconds=2.5 * writes,
    )


def asked(program: str, runs: list[Path]) -> tuple[float, str]:
    """Seconds of CPU of `harness compare --json`, and the hash of what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [*program.split(), "compare", *map(str, runs), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, hashlib.sha256(done.stdout).hexdigest()


def profiled(runs: list[Path]) -> None:
    """Print where the time goes, by function."""
    from harness.features.compare.command import compare

    watch = cProfile.Profile()
    watch.enable()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(typer.Exit):
        compare.__wrapped__({}, runs=runs, as_json=True)
    watch.disable()
    pstats.Stats(watch).sort_stats("tottime").print_stats(35)
    pstats.Stats(watch).sort_stats("cumtime").print_stats(60)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--a-problem", type=int, default=1, help="samples of each problem")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--keep", type=Path, help="make the runs there, and nothing else")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        runs = [
            made(folder, name, given.samples, given.a_problem, agentic=agentic)
            for name, agentic in (("shots", False), ("agent", True))
        ]
        if given.keep:
            return
        if given.profile:
            profiled(runs)
            return
        programs = [PROGRAM, *given.program]
        costs = {program: [] for program in programs}
        for _ in range(given.rounds):
            for program in programs:
                costs[program].append(asked(program, runs))
        rows = [
            [program, f"{min(s for s, _ in each):.2f}", f"{sorted(each)[len(each) // 2][0]:.2f}"]
            for program, each in costs.items()
        ]
        print(table(("harness compare --json, CPU seconds", "least", "median"), rows))
        print(f"answers: {len({reply for each in costs.values() for _, reply in each})} different")


if __name__ == "__main__":
    main()
