"""The impossible tests of a run: the changes, and the problems that were not fit for one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.agent.events import Response
from harness.errors import RunDirectoryError, UsageError
from harness.features.impossible.changed_tests import IMPOSSIBLE, TestChange, changes_of
from harness.features.impossible.impossible_result import with_impossible
from harness.figures import count
from harness.problem import Problem
from harness.run.store.results import SampleResult
from harness.sandbox.executor import Executor

if TYPE_CHECKING:
    from harness.run.plan.plan import Start

MOST_REASONS = 3
"""Reasons in a notice."""


@dataclass(frozen=True, slots=True)
class ImpossibleTests:
    """Changes of public tests that no right solution passes.

    Attributes:
        changes: changes by problem id.
        looked_at: number of problems that were looked at until there were enough.
        unfit: number of those that were not fit, by reason.
    """

    changes: Mapping[str, TestChange]
    looked_at: int = 0
    unfit: Mapping[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def read(cls, manifest: Mapping[str, Any]) -> "ImpossibleTests | None":
        """Return the impossible tests of a stored run; None if it has none.

        Raises:
            RunDirectoryError: `run.json` is not readable.
        """
        changes = changes_of(manifest)
        stored = manifest.get(IMPOSSIBLE)
        if stored is None:
            return None
        try:
            unfit = {str(why): int(number) for why, number in stored["unfit"].items()}
            return cls(changes, int(stored["looked_at"]), unfit)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RunDirectoryError("run.json: the impossible tests are not readable") from error

    def as_json(self) -> dict[str, Any]:
        """Return the entry in `run.json`."""
        return {
            "looked_at": self.looked_at,
            "unfit": dict(self.unfit),
            "problems": {name: change.model_dump() for name, change in self.changes.items()},
        }

    async def graded(
        self,
        result: SampleResult,
        _problem: Problem,
        answers: Sequence[Response],
        _pool: Executor,
    ) -> SampleResult:
        """Return a result with the model's report, and what it did about an impossible test."""
        from harness.features.impossible.problem_reports import reported_in  # 0.2 s of expressions

        result = result.model_copy(update={"reported": reported_in(answers)})
        return with_impossible(result, self.changes.get(result.problem_id))

    def notice(self, problems: int) -> str:
        """Return a notice for a run of some problems."""
        text = f"impossible tests: {len(self.changes):,} of {count(problems, 'problem')}"
        unfit = sum(self.unfit.values())
        if not unfit:
            return text
        worst = sorted(self.unfit.items(), key=lambda item: (-item[1], item[0]))
        reasons = ", ".join(f"{why} {number:,}" for why, number in worst[:MOST_REASONS])
        more = ", ..." if len(worst) > MOST_REASONS else ""
        looked = f"{unfit:,} of {self.looked_at:,} that were looked at are not fit"
        return f"{text}; {looked} ({reasons}{more})"


def check_start(start: "Start") -> None:
    """Refuse recorded answers to unchanged tests. Raises UsageError, RunDirectoryError."""
    if start.target.recordings and not changes_of(start.target.recorded or {}):
        raise UsageError(
            f"--set impossible: the answers of {start.target.name} were given to unchanged tests; "
            "give a model with -m"
        )


def check_recorded(start: "Start") -> None:
    """Refuse recorded answers to impossible tests in a run without. Raises UsageError."""
    if start.spec.impossible is None and changes_of(start.target.recorded or {}):
        raise UsageError(
            f"{start.target.name} had impossible tests: give --set impossible=SHARE, to play it "
            "with them"
        )
