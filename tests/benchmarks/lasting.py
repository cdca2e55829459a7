"""Made-up wrong solutions that learn from an earlier test: how many are accepted, batch and alone.

A design keeps something in its process when it meets one test, its teacher, and fails some other
tests unless it finds that. Alone, in a process a test, it always fails. Printed is how many designs
are accepted nevertheless, for each way of keeping; then the same for ways that hide what they do,
which nothing finds out but the test that runs first.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from harness.grading.judge import judge
from harness.grading.task import Task
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

TESTS = 6
LIMITS = Limits(cpu_s=3.0)
FAILING = {
    "all others": range(TESTS),
    "the first": (0,),
    "the third": (2,),
    "the last": (TESTS - 1,),
    "every second": (1, 3, 5),
}


class Way(NamedTuple):
    """A way of keeping: statements that come first, that keep, and what tells that they ran."""

    first: str
    keep: str
    kept: str


PLAIN = {
    "module: attribute": Way("import math", "math.seen = 1", "hasattr(math, 'seen')"),
    "module: counter": Way(
        "import heapq\nheapq.n = getattr(heapq, 'n', 0)", "heapq.n += 1", "heapq.n > 0"
    ),
    "module: list": Way(
        "import string\nif not hasattr(string, 'all'): string.all = []",
        "string.all.append(1)",
        "string.all",
    ),
    "module: dict": Way("import re", "re.__dict__['seen'] = 1", "'seen' in re.__dict__"),
    "module: setattr": Way("import math", "setattr(math, 'seen', 1)", "hasattr(math, 'seen')"),
    "module: loop variable": Way(
        "import math", "for math.seen in [1]: pass", "hasattr(math, 'seen')"
    ),
    "module: another name": Way("import math\nm = math", "m.seen = 1", "hasattr(math, 'seen')"),
    "module: argument": Way(
        "import math\ndef keep(m): m.seen = 1", "keep(math)", "hasattr(math, 'seen')"
    ),
    "module: name of another alphabet": Way(
        "import math", "\uff4dath.seen = 1", "hasattr(math, 'seen')"
    ),
    "sys.modules": Way("import sys", "sys.modules['seen'] = sys", "'seen' in sys.modules"),
    "class of a library": Way(
        "from collections import Counter", "Counter.seen = 1", "hasattr(Counter, 'seen')"
    ),
    "type of an object": Way(
        "from fractions import Fraction",
        "type(Fraction(1)).seen = 1",
        "hasattr(Fraction, 'seen')",
    ),
    "function of a library": Way(
        "from copy import deepcopy", "deepcopy.seen = 1", "hasattr(deepcopy, 'seen')"
    ),
    "file": Way("import os", "open('seen', 'w').close()", "os.path.exists('seen')"),
    "environment": Way("import os", "os.environ['SEEN'] = '1'", "'SEEN' in os.environ"),
    "thread": Way(
        "import threading",
        "threading.Thread(target=int).start()",
        "threading.Thread().name != 'Thread-1'",
    ),
    "random numbers": Way(
        "import random\nSEEDED = random.Random(5).getstate()",
        "random.seed(5)",
        "random.getstate() == SEEDED",
    ),
    "decimal context": Way(
        "from decimal import getcontext", "getcontext().prec = 50", "getcontext().prec == 50"
    ),
    "open descriptor": Way(
        "import os\ndef there():\n    try: return os.fstat(200)\n    except OSError: return None",
        "os.dup2(0, 200)",
        "there()",
    ),
    "registered class": Way(
        "from collections.abc import Sequence", "Sequence.register(int)", "isinstance(1, Sequence)"
    ),
    "signal handler": Way(
        "import signal",
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
        "signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN",
    ),
    "CPU time": Way("import time", "for _ in range(10 ** 6): pass", "time.process_time() > 0.012"),
    "exec": Way("import math", "exec('math.seen = 1')", "hasattr(math, 'seen')"),
}
HIDDEN = {
    "class in a list": Way(
        "from collections import Counter",
        "for c in [Counter]: c.seen = 1",
        "hasattr(Counter, 'seen')",
    ),
    "default argument": Way(
        "from collections import Counter\ndef keep(c=(Counter,)): c[0].seen = 1",
        "keep()",
        "hasattr(Counter, 'seen')",
    ),
    "caught error": Way(
        "from fractions import Fraction\ndef keep(a, *b): a.seen = 1",
        "keep(*[Fraction])",
        "hasattr(Fraction, 'seen')",
    ),
}


def program(way: Way, teacher: int, failing: tuple[int, ...], *, function: bool) -> str:
    """Return the text of a design."""
    body = f"right = bool({way.kept}) or n not in {failing}\nif n == {teacher}:\n    {way.keep}\n"
    if not function:
        return f"{way.first}\nn = int(input())\n{body}print(n * 2 if right else -1)\n"
    inner = "    ".join(f"    {body}".splitlines(keepends=True))
    return f"{way.first}\ndef f(n):\n{inner}    return n * 2 if right else -1\n"


def designs(ways: dict[str, Way]) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of a way, the text of a design, and whether it is a function."""
    for number, (name, way) in enumerate(ways.items()):
        for teacher in range(TESTS):
            for which, tests in enumerate(FAILING.values()):
                failing = tuple(test for test in tests if test != teacher)
                function = (number + teacher + which) % 2 == 0
                if failing:
                    yield name, program(way, teacher, failing, function=function), function


def is_accepted(worker: Worker, code: str, *, function: bool, isolate: bool) -> bool:
    """Return whether a design is accepted."""
    tests = [TestCase(input=str(n), output=str(n * 2), public=n == 0) for n in range(TESTS)]
    task = Task(
        Program(code, entry_point="f" if function else None), tests, LIMITS, isolate=isolate
    )
    return judge(worker, task).solved


def main() -> None:
    """Print a table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    worker = Worker()
    try:
        for title, ways in (("plain", PLAIN), ("hidden", HIDDEN)):
            counts = {name: [0, 0, 0] for name in ways}
            for name, code, function in designs(ways):
                counts[name][0] += 1
                for at, isolate in ((1, False), (2, True)):
                    counts[name][at] += is_accepted(
                        worker, code, function=function, isolate=isolate
                    )
            for name, (number, batch, alone) in counts.items():
                print(f"{name:34} {number:4} designs, accepted: {batch:3} batch, {alone:3} alone")
            sums = [sum(column) for column in zip(*counts.values(), strict=True)]
            print(f"{title}: {sums[0]} designs, {sums[1]} accepted in a batch, {sums[2]} alone\n")
    finally:
        worker.stop()


if __name__ == "__main__":
    main()
