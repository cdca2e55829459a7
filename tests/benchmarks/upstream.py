"""Measures LiveCodeBench's own grader: `upstream.py FOLDER SUITES NAME PROCESSES TIMEOUT`.

FOLDER holds `lcb_runner/evaluation`. It needs numpy and tqdm, and it isolates nothing: give it
none but programs that are trusted. Which solutions it passed stands on the last line but one.
Nothing of the harness is imported: what a process has loaded makes its forks dear.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from cost import Cost, timed


def sample(row: dict[str, Any]) -> dict[str, str]:
    """A row as upstream's function takes it."""
    inputs, outputs = zip(*row["tests"], strict=True)
    tests: dict[str, Any] = {"inputs": inputs, "outputs": outputs}
    if row["entry_point"] is not None:
        tests["fn_name"] = row["entry_point"]
    return {"input_output": json.dumps(tests)}


def main(folder: str, suites: str, name: str, processes: str, timeout: str) -> Cost:
    """Measure, and print which passed."""
    sys.path.insert(0, folder)
    module = importlib.import_module("lcb_runner.evaluation.compute_code_generation_metrics")
    rows: list[dict[str, Any]] = json.loads(Path(suites).read_text())[name]
    samples = list(map(sample, rows))
    answers: list[Any] = []

    def work() -> None:
        answers.append(
            module.codegen_metrics(
                samples,
                [[row["code"]] for row in rows],
                num_process_evaluate=int(processes),
                timeout=int(timeout),
            )
        )

    cost = timed(sum(len(row["tests"]) for row in rows), work)
    results: dict[int, list[list[Any]]] = answers[0][1]
    passed = [
        len(results[place][0]) == len(row["tests"])
        and all(each is True for each in results[place][0])
        for place, row in enumerate(rows)
    ]
    print(json.dumps(passed))
    return cost


if __name__ == "__main__":
    main(*sys.argv[1:]).tell()
