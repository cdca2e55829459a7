"""`harness serve` under 20,000 requests, its workers killed with -9 in between.

Programs with known verdicts are run (`/run_code`), and judged alone and in batches (`/grade`), by
several clients at once. All the while, processes of the sandbox are killed at random. Prints how
the server stands in between, and exits with 1 where a verdict is wrong, a reward is missing, or
something has grown. An infrastructure failure is counted: it has no reward, and is asked again.
"""

import argparse
import gc
import http.client
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cost import table, tree
from serving import Serving

TESTS = [{"input": f"{n}\n", "output": f"{2 * n}"} for n in range(1, 6)]
DOUBLE = "print(2 * int(input()))"
SOLUTIONS = (
    (DOUBLE, "accepted"),
    ("print(0)", "wrong_answer"),
    ("1 / 0", "runtime_error"),
    ("import os; os._exit(1)", "runtime_error"),
    ("import os; os.abort()", "runtime_error"),
    ("print(", "compile_error"),
    ("open('left', 'w').write('x' * 1000)\n" + DOUBLE, "accepted"),
    ("import os; os.kill(os.getppid(), 9)", "runtime_error"),
)
RUNS = (
    (DOUBLE, ("Success", 0, "6\n")),
    ("import sys; sys.exit(3)", ("Failed", 3, "")),
    ("raise ValueError", ("Failed", 1, "")),
    ("import os; os.abort()", ("Failed", -6, "")),
)
BATCH = 5
TRIES = 5
GROWTH = {"descriptors": 12, "threads": 6, "processes": 2, "memory, KiB": 64 * 1024}


class Client:
    """Asks over one connection, and again where infrastructure failed."""

    def __init__(self, place: str, tally: Counter[str]) -> None:
        self._connection = http.client.HTTPConnection(place, timeout=300)
        self._tally = tally

    def post(self, path: str, body: Any) -> list[Any]:
        """The answers to a request."""
        self._connection.request("POST", path, json.dumps(body))
        answer = self._connection.getresponse()
        text = answer.read().decode()
        self._tally[f"HTTP {answer.status}"] += 1
        return [json.loads(line) for line in text.splitlines()] if answer.status == 200 else []

    def run(self, number: int) -> None:
        """Run a program; note where the answer is wrong."""
        code, expected = RUNS[number % len(RUNS)]
        body = {"code": f"{code}\n# {number}", "language": "python", "stdin": "3\n"}
        for _ in range(TRIES):
            (answer,) = self.post("/run_code", body)
            if answer["status"] == "SandboxError":
                self._tally["sandbox errors"] += 1
                continue
            result = answer["run_result"]
            got = (answer["status"], result["return_code"], result["stdout"])
            self._tally["right" if got == expected else f"WRONG {got} for {code!r}"] += 1
            return
        self._tally["NEVER ANSWERED"] += 1

    def grade(self, number: int, size: int) -> None:
        """Judge solutions; note where a verdict or a reward is wrong."""
        left = [SOLUTIONS[(number + n) % len(SOLUTIONS)] for n in range(size)]
        for _ in range(TRIES):
            items = [{"tests": TESTS, "code": f"{code}\n# {number}"} for code, _ in left]
            answers = self.post("/grade", {"items": items} if size > 1 else items[0])
            again = [left[each["index"]] for each in answers if each["reward"] is None]
            self._tally["sandbox errors"] += len(again)
            for each in answers:
                if each["reward"] is not None:
                    self._note(each, *left[each["index"]])
            left = again
            if not left:
                return
        self._tally["NEVER ANSWERED"] += len(left)

    def _note(self, answer: Any, code: str, expected: str) -> None:
        right = answer["verdict"] == expected and answer["reward"] == (expected == "accepted")
        self._tally["right" if right else f"WRONG {answer['verdict']} for {code!r}"] += 1


def main() -> None:
    """Ask, kill, look, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--kill-every", type=float, default=2.0, help="seconds between two kills")
    options = parser.parse_args()
    with Serving() as serving:
        pid = serving.process.pid
        tally: Counter[str] = Counter()
        soak(serving, options.clients, 100, Counter(), None)
        first = state(pid)
        rows = [["0", "-", *map(str, first.values())]]
        start = time.perf_counter()
        last = first
        for step in range(10):
            soak(serving, options.clients, options.requests // 10, tally, options.kill_every)
            last = state(pid)
            seconds = time.perf_counter() - start
            done = (step + 1) * options.requests // 10
            rows.append([f"{done:,}", f"{seconds:.0f}", *map(str, last.values())])
            print(rows[-1], flush=True)
        health = serving.ask("/health")
    print(table(("requests", "s", *first), rows))
    for name, number in sorted(tally.items()):
        print(f"{number:8,} {name}")
    print(health)
    bad = [name for name in tally if name.startswith(("WRONG", "NEVER"))]
    bad += [name for name in tally if name.startswith("HTTP") and name != "HTTP 200"]
    bad += [name for name, margin in GROWTH.items() if last[name] > first[name] + margin]
    sys.exit(f"faults: {bad}" if bad else 0)


def soak(
    serving: Serving, clients: int, requests: int, tally: Counter[str], kill_every: float | None
) -> None:
    """Ask so many requests, by several clients at once."""
    over = threading.Event()
    numbers = itertools.count()

    def ask() -> Counter[str]:
        own: Counter[str] = Counter()
        client = Client(serving.place, own)
        while (number := next(numbers)) < requests:
            match number % 10:
                case 0:
                    client.grade(number // 10, BATCH)
                case 1 | 2 | 3 | 4:
                    client.grade(number, 1)
                case _:
                    client.run(number)
        return own

    def kill() -> None:
        while kill_every is not None and not over.wait(random.expovariate(1 / kill_every)):
            below = tree(serving.process.pid)[1:]
            if below:
                with_pid = random.choice(below)
                try:
                    os.kill(with_pid, signal.SIGKILL)
                    tally["killed"] += 1
                except OSError:
                    tally["gone before it was killed"] += 1

    killer = threading.Thread(target=kill)
    killer.start()
    with ThreadPoolExecutor(clients) as pool:
        for own in pool.map(lambda _: ask(), range(clients)):
            tally.update(own)
    over.set()
    killer.join()


def state(pid: int) -> dict[str, int]:
    """How the server stands."""
    gc.collect()
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split()[:2] for line in status if len(line.split()) > 1)
    return {
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(values["Threads:"]),
        "processes": len(tree(pid)),
        "memory, KiB": int(values["VmRSS:"]),
    }


if __name__ == "__main__":
    main()
