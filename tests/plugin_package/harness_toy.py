"""A plug-in of each kind: a source, a model, a strategy, a rule and an observer."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from harness.agent.attempt import Attempt
from harness.agent.session import Session
from harness.agent.strategies.shots import single_shot
from harness.features.observers.observer_events import Observed, SampleEnded
from harness.grading.rules import ComparisonRule
from harness.grading.rules.difference import difference
from harness.grading.verdict import Difference
from harness.problem import Problem, TestCase, TestSuite
from harness.sources.files.rows import Loaded


def load(where: str | None, *, skip_bad_rows: bool = False, watch: object = None) -> Loaded:
    """As many problems as `where` says, 2 by itself."""
    del skip_bad_rows, watch  # nothing can be bad, and nothing takes a while
    return Loaded(tuple(_problem(number) for number in range(int(where or 2))))


def _problem(number: int) -> Problem:
    public = TestCase(input="yes", output=f"YES {number}", public=True)
    hidden = TestCase(input="no", output=f"NO {number}", public=False)
    return Problem(
        id=f"toy/shout-{number}",
        source="toy",
        title=f"Shout {number}",
        statement=f"Shout what you read, and {number}.",
        platform="toy",
        difficulty="easy",
        difficulty_word="easy",
        tests=TestSuite((public,), lambda: (hidden,)),
        rule="toy",
        content_hash=sha256(f"shout {number}".encode()).hexdigest(),
    )


def open_model(name: str) -> Callable[[dict[str, str]], str]:
    """A function of a problem; `toy:loud` and `toy:quiet` differ in the case of what is printed."""
    case = {"loud": "upper", "quiet": "lower"}[name or "quiet"]

    def solve(problem: dict[str, str]) -> str:
        number = problem["id"].rpartition("-")[2]
        return f"```python\nprint(input().{case}(), {number})\n```"

    return solve


async def twice(session: Session) -> Attempt:
    """A single shot, said to be two."""
    attempt = await single_shot(session)
    return attempt.model_copy(update={"nudges": 2})


def _same(expected: str, got: str) -> Difference | None:
    if expected.strip().lower() == got.strip().lower():
        return None
    return difference("the letters", expected, got)


CASELESS = ComparisonRule(output=_same, value=_same)


class Log:
    """Writes what it is told to the file that TOY_LOG names."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __call__(self, event: Observed) -> None:
        verdict = f" {event.result.verdict}" if isinstance(event, SampleEnded) else ""
        self._lines.append(f"{event.event}{verdict}\n")

    def close(self) -> None:
        Path(os.environ["TOY_LOG"]).write_text("".join(self._lines), encoding="utf-8")
