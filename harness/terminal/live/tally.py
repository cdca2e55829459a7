"""Scores of a run so far."""

from collections import defaultdict

from harness.figures import interval
from harness.run.store.results import SampleResult
from harness.stats.rates import wilson
from harness.terminal.part_view import shown_parts


class Tally:
    """Scores of a run so far.

    Attributes:
        total: number of planned samples; `ended` of them are graded or stay pending, of which
            `failed` stay pending.
        solved, graded: number of samples.
        cost: US dollars; None as soon as any sample's cost is unknown.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.ended = self.solved = self.graded = self.failed = self.tokens = 0
        self.running = self.retries = 0
        self.cost: float | None = 0.0
        self._problems: dict[str, tuple[int, int]] = {}  # solved and graded samples
        self._fractions = 0.0
        self._beyond: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def count(self, result: SampleResult) -> None:
        """Count a graded sample."""
        self.ended += 1
        self.tokens += result.usage.total_tokens if result.usage else 0
        self.cost = None if self.cost is None or result.cost is None else self.cost + result.cost
        if result.graded:
            self.solved += result.solved
            self.graded += 1
            self._add(result.problem_id, solved=result.solved)
        for _, view, part in shown_parts(result) if result.graded else ():
            if (share := view.share(part)) is not None:
                counts = self._beyond[result.problem_id]
                counts[0] += share
                counts[1] += 1

    def fail(self) -> None:
        """Count a sample that stays pending."""
        self.ended += 1
        self.failed += 1

    @property
    def pass_at_1(self) -> float | None:
        """Mean over problems of the solved fraction of each problem's samples."""
        return self._fractions / len(self._problems) if self._problems else None

    @property
    def beyond(self) -> float | None:
        """Beyond@1 so far; None if nothing conclusive was timed yet."""
        if not self._beyond:
            return None
        return sum(value / samples for value, samples in self._beyond.values()) / len(self._beyond)

    @property
    def interval(self) -> str:
        """Wilson interval of pass@1 in percent; empty if there is none yet."""
        value = self.pass_at_1
        if value is None:
            return ""
        low, high = wilson(min(1.0, max(0.0, value)), len(self._problems))
        return interval(low, high)

    def _add(self, problem: str, *, solved: bool) -> None:
        before, samples = self._problems.get(problem, (0, 0))
        self._fractions -= before / samples if samples else 0.0
        self._problems[problem] = (before + solved, samples + 1)
        self._fractions += (before + solved) / (samples + 1)
