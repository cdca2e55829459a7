"""Three solutions of a made-up problem, and what is needed to time them."""

from dataclasses import dataclass

from harness.features.efficiency import paired_timing
from harness.features.efficiency.scale import Efficiency, Scale
from harness.features.efficiency.turns import Expected
from harness.sandbox.worker import Worker

FAST = "def f(n):\n    s = 0\n    for i in range(n): s += i\n    return s\n"
MIDDLE = (
    "def f(n):\n    s = 0\n    for i in range(n):\n        for j in range(3): s += i\n"
    "    return s // 3\n"
)
SLOW = MIDDLE.replace("3", "9")


@dataclass(frozen=True)
class Bench:
    """What is needed to measure solutions."""

    worker: Worker
    expected: Expected
    scale: Scale
    codes: dict[str, str]

    def measure(self, code: str) -> Efficiency:
        return paired_timing.measure(self.worker, self.expected, self.scale, self.codes, code)
