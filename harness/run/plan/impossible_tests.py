"""The impossible tests of a run: the changes, and the problems that were not fit for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.errors import RunDirectoryError, UsageError
from harness.figures import count
from harness.run.store.changed_tests import IMPOSSIBLE, TestChange, changes_of

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
    """Refuse recorded answers to other tests: to impossible ones, or to unchanged ones.

    Raises:
        UsageError, RunDirectoryError: says what to give.
    """
    if not start.target.is_recorded:
        return
    is_impossible = bool(changes_of(start.recorded or {}))
    if start.spec.impossible is not None and not is_impossible:
        raise UsageError(
            f"--impossible: the answers of {start.target.name} were given to unchanged tests; give "
            "a model with -m"
        )
    if start.spec.impossible is None and is_impossible:
        raise UsageError(
            f"{start.target.name} had impossible tests: give --impossible SHARE, to play it with "
            "them"
        )
