"""How long `harness view` takes to show a run of 10,000 samples, each with a transcript.

The run is made first. Then: from the start of the program until it says where it is, until the
list of runs and the run's first page are there, the pages after that, a search, a sort, a sample,
what is read when a result is added, and what all of it takes of memory.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from runs_made import manifest, request, response, result, start, tool_result

PROGRAM = str(Path(sys.executable).with_name("harness"))
CODE = "import sys\n\n\ndef solve(numbers):\n" + "    total = sum(numbers)\n" * 60 + "\n"
TESTS = 30


def made(folder: Path, samples: int, transcripts: int) -> Path:
    """A run of that many samples, the first of which have transcripts."""
    run = folder / "large"
    (run / "transcripts").mkdir(parents=True)
    names = [f"made/problem-{number}" for number in range(samples)]
    (run / "run.json").write_text(json.dumps(manifest(names)))
    test = {"verdict": "accepted", "public": False, "cpu_s": 0.01, "wall_s": 0.02}
    with (run / "results.jsonl").open("w") as file:
        for number, name in enumerate(names):
            bad = {"verdict": "wrong_answer", "hidden_passed": 1} if number % 3 else {}
            row = result(name, code=CODE, tests=[test] * TESTS, **bad)
            file.write(json.dumps(row) + "\n")
    write = json.dumps({"code": CODE})
    for name in names[:transcripts]:
        events = [start(name), request(1, ("system", "Solve it. " * 100), ("user", "Now."))]
        for turn in range(1, 5):
            calls = [(f"w{turn}", "write_solution", write), (f"t{turn}", "run_tests", "{}")]
            events.append(response(turn, "I try this.", calls))
            events.append(tool_result(turn, f"w{turn}", "write_solution", "Saved."))
            events.append(tool_result(turn, f"t{turn}", "run_tests", "All 3 public tests passed."))
        path = run / "transcripts" / f"{name.replace('/', '%2F')}-0.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return run


def peak_mb(pid: int) -> float:
    """The most memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1]) / 1024


def cpu_s(pid: int) -> float:
    """The seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--transcripts", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = made(Path(folder), arguments.samples, arguments.transcripts)
        size = (run / "results.jsonl").stat().st_size / 1e6
        print(f"{arguments.samples:,} samples, results.jsonl of {size:.0f} MB")
        began = time.perf_counter()
        process = subprocess.Popen([PROGRAM, "view", folder], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            address = next(line for line in process.stdout if "http" in line).strip()
            say("the program says where it is", began)
            measure(address, run, began, process.pid)
            print(f"peak memory of the viewer: {peak_mb(process.pid):.0f} MB")
        finally:
            began = time.perf_counter()
            process.send_signal(signal.SIGINT)
            code = process.wait()
            say(f"ended with code {code} after an interrupt", began)


def measure(address: str, run: Path, began: float, pid: int) -> None:
    """Open one page after the other."""
    base = address.partition("/?")[0]
    with httpx2.Client(base_url=base, timeout=60) as client:
        client.get(address)
        runs = client.get("/").text
        say("… and the list of runs is there", began)
        here = found(runs, r'href="(/runs/[0-9a-f]+)"')
        began_run = time.perf_counter()
        page = client.get(here).text
        say("… and its first page is there (to be: below 2 s)", began)
        say("of which that page", began_run)
        print(f"{'CPU of the program until then':<52}{cpu_s(pid):>8.2f} s")
        for what, path in (
            ("page 57", f"{here}?page=57"),
            ("a search", f"{here}?q=problem-77"),
            ("sorted by title", f"{here}?sort=problem&down=1"),
            ("a sample", found(page, rf'href="({here}/samples/[0-9a-f]+)"')),
        ):
            began = time.perf_counter()
            client.get(path).raise_for_status()
            say(what, began)
        with (run / "results.jsonl").open("a") as file:
            file.write(json.dumps(result("made/new")) + "\n")
        began = time.perf_counter()
        client.get(here)
        say("the page again, after a result more", began)
        assert ">New</a>" in client.get(f"{here}?q=made/new").text


def found(text: str, pattern: str) -> str:
    """The first address of a page that is like that."""
    match = re.search(pattern, text)
    assert match is not None
    return match[1]


def say(what: str, began: float) -> None:
    """A line of the table."""
    print(f"{what:<52}{time.perf_counter() - began:>8.3f} s")


if __name__ == "__main__":
    main()
