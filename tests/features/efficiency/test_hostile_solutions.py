"""Solutions that would look faster than they are: none does."""

from collections.abc import Callable
from functools import cache

import pytest
from timed_bench import SLOW, Bench

from harness.features.efficiency.scale import Efficiency

pytestmark = pytest.mark.thorough

OWN = SLOW.replace("def f", "def g")
STATE = """
import sys
class State: pass
kept = sys.modules.setdefault("kept", State()).__dict__
"""
SOLUTIONS = {
    "remembers every answer": f"""{OWN}{STATE}
def f(n):
    if n not in kept: kept[n] = g(n)
    return kept[n]
""",
    "remembers half of the answers": f"""{OWN}{STATE}
def f(n):
    if n % 2: return g(n)
    if n not in kept: kept[n] = g(n)
    return kept[n]
""",
    "works ahead when it is loaded": f"""{OWN}{STATE}
kept |= {{n: g(n) for n in kept.setdefault("asked", [])}}
def f(n):
    if n not in kept["asked"]: kept["asked"].append(n)
    return kept.pop(n) if n in kept else g(n)
""",
    "bends the clocks": f"""{OWN}
import resource, time
time.process_time = time.perf_counter = time.monotonic = lambda: 0.0
class Usage: ru_utime = ru_stime = 0.0
resource.getrusage = lambda who: Usage
def f(n): return g(n)
""",
    "sleeps": f"""{OWN}
import time
def f(n):
    time.sleep(0.0002)
    return g(n)
""",
    "spins a thread in the other's turn": f"""{OWN}{STATE}
import threading
def spin():
    while True: sum(range(1000))
if "spins" not in kept:
    kept["spins"] = True
    threading.Thread(target=spin, daemon=True).start()
def f(n): return g(n)
""",
    "works in a thread while it is not timed": f"""{OWN}{STATE}
import threading, time
def work():
    while True:
        for n in list(kept.setdefault("asked", [])):
            if n not in kept: kept[n] = g(n)
        time.sleep(0)
if "works" not in kept:
    kept["works"] = True
    threading.Thread(target=work, daemon=True).start()
def f(n):
    if n in kept: return kept.pop(n)
    kept.setdefault("asked", []).append(n)
    return g(n)
""",
    "answers with what has yet to be worked out": f"""{OWN}
class Later:
    def __init__(self, n): self.n = n
    def tolist(self): return g(self.n)
def f(n): return Later(n)
""",
    "says that it is done before it is": f"""{OWN}
import os, stat
channels = [d for d in range(3, 40) if os.path.exists(f"/proc/self/fd/{{d}}")]
for d in range(3, 40):
    try:
        if stat.S_ISSOCK(os.fstat(d).st_mode) and d not in channels: channels.append(d)
    except OSError: pass
def f(n):
    for d in channels:
        try: os.write(d, b"D")
        except OSError: pass
    return g(n)
""",
    "answers garbage once it has been believed": f"""{OWN}{STATE}
def f(n):
    kept["calls"] = kept.get("calls", 0) + 1
    return 0 if kept["calls"] > 60 else g(n)
""",
}


Measure = Callable[[str], Efficiency]


@pytest.fixture(scope="module")
def measure(bench: Bench) -> Measure:
    """Time a solution of the table once, by its name."""
    return cache(lambda name: bench.measure(SOLUTIONS[name]))


@pytest.mark.parametrize("name", SOLUTIONS)
def test_hostile_solutions_look_no_faster_than_they_are(
    bench: Bench, measure: Measure, name: str
) -> None:
    efficiency = measure(name)
    # Nearer to the slowest than to the one in the middle, by far: it is the slowest's code.
    slow = bench.scale.references[-1].time
    assert efficiency.time_high is None or efficiency.time_high > 0.8 * slow, efficiency
    assert efficiency.beyond is not None
    assert efficiency.beyond_low < 0.3, efficiency


def test_a_solution_that_remembers_is_timed_in_fresh_processes(measure: Measure) -> None:
    efficiency = measure("remembers every answer")
    assert "run before" in efficiency.remark


def test_a_solution_that_turns_to_garbage_is_wrong(measure: Measure) -> None:
    efficiency = measure("answers garbage once it has been believed")
    assert (efficiency.beyond, efficiency.remark) == (0.0, "gave a wrong answer when it was timed")
