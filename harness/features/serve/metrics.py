"""Metrics of the server, in Prometheus's text format (version 0.0.4)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
PATHS = frozenset({"/run_code", "/grade", "/health", "/metrics"})
SMOOTHING = 0.1


class Histogram:
    """A cumulative histogram of seconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds

    def lines(self, name: str) -> Iterator[str]:
        """Yield the histogram's lines."""
        below = 0
        for bound, number in zip((*map(str, BOUNDS_S), "+Inf"), self.counts, strict=True):
            below += number
            yield f'{name}_bucket{{le="{bound}"}} {below}'
        yield f"{name}_sum {self.total_s:.6f}"
        yield f"{name}_count {below}"


class Metrics:
    """Counts since the server started.

    Attributes:
        requests: answers by path and status.
        verdicts: verdicts of `/grade`, and statuses of `/run_code`, by path.
        waited, worked: seconds until a worker was free, and seconds on it.
        cpu_s: CPU seconds of judged programs.
        usual_s: moving average of the seconds that a worker takes for a piece of work.
        failures: sandbox failures in a row.
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.waited = Histogram()
        self.worked = Histogram()
        self.cpu_s = 0.0
        self.usual_s = 0.1
        self.failures = 0

    def answered(self, path: str, status: int) -> None:
        """Count an answer."""
        self.requests[path if path in PATHS else "other", status] += 1

    def judged(self, path: str, verdict: str, cpu_s: float) -> None:
        """Count a verdict, or the status of a run program."""
        self.verdicts[path, verdict] += 1
        self.cpu_s += cpu_s

    def done(self, seconds: float, *, failed: bool) -> None:
        """Count a piece of work that a worker has done."""
        self.worked.observe(seconds)
        self.usual_s += SMOOTHING * (seconds - self.usual_s)
        self.failures = self.failures + 1 if failed else 0

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all metrics as text.

        Args:
            gauges: current values, by name.
        """
        return "\n".join((*self._counters(), *self._histograms(), *_gauges(gauges))) + "\n"

    def _counters(self) -> Iterator[str]:
        yield from _head("harness_requests_total", "counter", "Answers by path and status.")
        for (path, status), number in sorted(self.requests.items()):
            yield f'harness_requests_total{{path="{path}",status="{status}"}} {number}'
        yield from _head("harness_verdicts_total", "counter", "Verdicts, or ends of runs.")
        for (path, verdict), number in sorted(self.verdicts.items()):
            yield f'harness_verdicts_total{{path="{path}",verdict="{verdict}"}} {number}'
        name = "harness_program_cpu_seconds_total"
        yield from _head(name, "counter", "CPU seconds of judged programs.")
        yield f"{name} {self.cpu_s:.6f}"

    def _histograms(self) -> Iterator[str]:
        for name, histogram, text in (
            ("harness_wait_seconds", self.waited, "Seconds until a worker was free."),
            ("harness_work_seconds", self.worked, "Seconds on a worker."),
        ):
            yield from _head(name, "histogram", text)
            yield from histogram.lines(name)


def _gauges(gauges: Mapping[str, float]) -> Iterator[str]:
    for name, value in gauges.items():
        yield from _head(f"harness_{name}", "gauge", name.replace("_", " ").capitalize() + ".")
        yield f"harness_{name} {value:g}"


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
