"""What the program costs at this commit and at another one: CPU seconds, and bytes a sample.

    python tests/benchmarks/all.py COMMIT [--rounds N]

The other commit is unpacked into a temporary folder. Every command is run in turns from both, so
that a busy machine slows both alike; the figure is the least of all rounds, of the command and the
processes that it waits for. `view` is measured in wall time, to its first page, the list of runs.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import comparing
import httpx2
import viewer
from cost import table

HERE = Path(__file__).resolve().parents[2]
PYTHON = (sys.executable, "-P")  # the place is PYTHONPATH, not where this is started
PROGRAM = (*PYTHON, "-m", "harness")
LIST_RUNS, LOOP_SAMPLES = 500, 100
FEW, MANY = 20, 220  # solutions
Measure = Callable[[Mapping[str, str]], float]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the other commit")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = {given.commit: unpacked(given.commit, folder / "other"), "here": HERE}
        for place in places.values():
            check(place)
        rows: list[list[str]] = []
        for label, measure in measures(folder).items():
            least = dict.fromkeys(places, float("inf"))
            for _ in range(given.rounds):
                for commit, place in places.items():
                    least[commit] = min(least[commit], measure(environment_of(place)))
            before, now = least.values()
            rows.append([label, f"{before:,.3f}", f"{now:,.3f}", f"{now / before:.2f}"])
        print(table(["least of the rounds", *places, "ratio"], rows))


def unpacked(commit: str, folder: Path) -> Path:
    """The files of a commit, compiled."""
    folder.mkdir()
    archive = ["git", "-C", str(HERE), "archive", commit]
    files = subprocess.run(archive, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=files, check=True)
    compile_all = [sys.executable, "-m", "compileall", "-q", folder / "harness", folder / "tools"]
    subprocess.run(compile_all, check=True)
    return folder


def environment_of(place: Path) -> dict[str, str]:
    """The environment in which the package is that of a place."""
    return {**os.environ, "PYTHONPATH": str(place)}


def check(place: Path) -> None:
    """Make sure that the package of a place is the one that is measured."""
    command = [*PYTHON, "-c", "import harness; print(harness.__file__)"]
    found = subprocess.check_output(command, env=environment_of(place), text=True)
    assert Path(found.strip()).is_relative_to(place), found


def measures(folder: Path) -> dict[str, Measure]:
    """What is measured, by its name and unit."""
    runs, fresh = folder / "runs", folder / "fresh"
    for number in range(LIST_RUNS):
        viewer.made(runs / f"{number}", 1, 0)
    arms = [
        comparing.made(folder, name, comparing.SAMPLES, 1, agentic=agentic)
        for name, agentic in (("shots", False), ("agent", True))
    ]
    few, many = solutions(folder, FEW), solutions(folder, MANY)
    return {
        "bare Python, CPU s": partial(cpu, [sys.executable, "-c", "pass"]),
        "--help, CPU s": partial(cpu, [*PROGRAM, "--help"]),
        "run --help, CPU s": partial(cpu, [*PROGRAM, "run", "--help"]),
        "a run of one bundled problem, CPU s": partial(one_run, fresh),
        "compare --json of 2 x 10,000 samples, CPU s": partial(
            cpu, [*PROGRAM, "compare", *map(str, arms), "--json"]
        ),
        f"ls of {LIST_RUNS} runs, CPU s": partial(cpu, [*PROGRAM, "ls", str(runs)]),
        f"view, first page with {LIST_RUNS} runs, wall s": partial(first_page, runs),
        "a solution with one test, CPU ms": partial(one_test, few, many),
        "own CPU a model call, ms": partial(looped, "own CPU", sandbox=True),
        "the same with --no-sandbox-time, ms": partial(looped, "own CPU"),
        "transcript, bytes a sample": partial(looped, "transcript"),
        "results, bytes a sample": partial(looped, "results"),
        "peak memory of the loop, MiB": partial(looped, "peak"),
    }


def cpu(command: list[str], environment: Mapping[str, str]) -> float:
    """The CPU seconds of a command and the processes that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def solutions(folder: Path, number: int) -> list[str]:
    """The command that judges so many different solutions, each right and with one test."""
    problems, codes = (folder / f"{name}-{number}.jsonl" for name in ("problems", "solutions"))
    with problems.open("w") as rows, codes.open("w") as written:
        for n in range(number):
            tests = [{"input": f"{n}", "output": f"{2 * n}"}]
            row = {"id": f"p{n}", "title": "Double", "statement": "Double it.", "tests": tests}
            code = f"n = int(input())\nprint(n + n)  # {n}"
            rows.write(json.dumps(row) + "\n")
            written.write(json.dumps({"problem_id": f"p{n}", "code": code}) + "\n")
    return [*PROGRAM, "grade", "-b", f"jsonl:{problems}", "--solutions", str(codes)]


def one_test(few: list[str], many: list[str], environment: Mapping[str, str]) -> float:
    """The CPU milliseconds of one more solution: of many less those of few."""
    more = cpu(many, environment) - cpu(few, environment)
    return 1_000 * more / (MANY - FEW)


def one_run(fresh: Path, environment: Mapping[str, str]) -> float:
    """The CPU seconds of a run of one bundled problem, in a directory of its own."""
    with tempfile.TemporaryDirectory(dir=fresh.parent) as folder:
        return cpu([*PROGRAM, "run", "--limit", "1", "-o", f"{folder}/run"], environment)


def first_page(runs: Path, environment: Mapping[str, str]) -> float:
    """The seconds from the start of `harness view` to its list of runs."""
    began = time.perf_counter()
    command = [*PROGRAM, "view", str(runs)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = next(line for line in process.stdout if "http" in line).strip()
            with httpx2.Client(timeout=60, follow_redirects=True) as client:
                client.get(address).raise_for_status()
            return time.perf_counter() - began
        finally:
            process.send_signal(signal.SIGINT)


def looped(figure: str, environment: Mapping[str, str], *, sandbox: bool = False) -> float:
    """A figure of `loop.py`, which is the place's own."""
    program = Path(environment["PYTHONPATH"]) / "tests" / "benchmarks" / "loop.py"
    command = [sys.executable, str(program), "--one", "--samples", str(LOOP_SAMPLES)]
    command += [] if sandbox else ["--no-sandbox-time"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])[figure]


if __name__ == "__main__":
    main()
