"""verl's own reward function, its files unchanged: `score_with_verl.py FOLDER ROWS PROCESSES WAY`.

ROWS is JSON lines of `text` and `tests` (`inputs`, `outputs`, perhaps `fn_name`). WAY is
`prime_code`, its grader in this process's children, or the address of a sandbox, which its client
asks. Prints the score of each row, and the wall and CPU seconds of all.
"""

import importlib
import json
import resource
import sys
import threading
import time
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

folder, rows, processes, way = sys.argv[1:5]
for name in ("verl", "verl.utils", "verl.utils.reward_score"):
    package = types.ModuleType(name)
    package.__path__ = [f"{folder}/{name.replace('.', '/')}"]
    sys.modules[name] = package
module = "prime_code" if way == "prime_code" else "sandbox_fusion"
grader = importlib.import_module(f"verl.utils.reward_score.{module}")
PLACES = threading.Semaphore(int(processes))


def score(row: dict[str, Any]) -> float | None:
    """The score that a training run would get."""
    if way == "prime_code":
        score = grader.compute_score(row["text"], json.dumps(row["tests"]), continuous=True)
    else:
        text, tests = row["text"], json.dumps(row["tests"])
        score = grader.compute_score(way, PLACES, 2048, text, tests, continuous=True)
    return float(score[0])


def cpu_s() -> float:
    """Of this process and all that it reaped."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Score, and print."""
    given = [json.loads(line) for line in Path(rows).read_text().splitlines()]
    start, before = time.perf_counter(), cpu_s()
    if way == "prime_code":
        with ProcessPoolExecutor(int(processes)) as pool:
            scores = list(pool.map(score, given))
    else:
        with ThreadPoolExecutor(int(processes)) as threads:
            scores = list(threads.map(score, given))
    wall = time.perf_counter() - start
    print(json.dumps({"scores": scores, "wall_s": wall, "cpu_s": cpu_s() - before}))


if __name__ == "__main__":
    main()
