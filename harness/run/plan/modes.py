"""What a feature adds to a run: a mode whose agent is the user's own, or another transport.

`harness.registry` names them. The core asks for them by these protocols and knows no feature.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any, Protocol

from harness.registry import MODES, TRANSPORTS, feature

if TYPE_CHECKING:
    from harness.problem import Problem
    from harness.run.plan.plan import Plan
    from harness.run.spec.spec import RunSpec
    from harness.run.store.directory import RunDirectory


class Mode(Protocol):
    """A mode in which harness asks no model: an agent of the user's own works."""

    def check(self, spec: "RunSpec") -> None:
        """Refuse settings that cannot be combined. Raises UsageError."""
        ...

    def model_name(self, spec: "RunSpec") -> str:
        """Return the name that results are filed under. Raises UsageError."""
        ...

    def facts(self, spec: "RunSpec") -> Mapping[str, Any]:
        """Return what `run.json` says of the agent."""
        ...

    def notice(self, spec: "RunSpec") -> str:
        """Return the line that is shown before the run begins."""
        ...

    def limits(self, spec: "RunSpec") -> tuple[int | None, float | None]:
        """Return the most tool calls and working seconds of a sample; None is no limit."""
        ...

    def armed(self, plan: "Plan", path: Path) -> "Plan":
        """Return the plan with a strategy that can start agents.

        Args:
            plan: of the run.
            path: the run directory, which need not exist yet.

        Raises:
            HarnessError: the agent cannot be started here.
        """
        ...


class Transport(Protocol):
    """Another way for a run's requests than one by one."""

    def check(self, spec: "RunSpec", name: str, environ: Mapping[str, str]) -> None:
        """Refuse a run that cannot go this way. Raises UsageError.

        Args:
            spec: of the run.
            name: the model's name.
            environ: where addresses and keys may stand.
        """
        ...

    async def answered(  # noqa: PLR0917 - what a run consists of
        self,
        plan: "Plan",
        directory: "RunDirectory",
        samples: "Sequence[tuple[Problem, int]]",
        tell: Callable[[str], None],
        stopping: Sequence[Signals],
        interrupted: Callable[[], None],
    ) -> "Plan | None":
        """Return the plan with a model that knows all answers; None after an interrupt.

        Args:
            plan: of the run.
            directory: its run directory.
            samples: those without a result.
            tell: is called with a line for the user.
            stopping: signals that are interrupts.
            interrupted: is called at each interrupt.
        """
        ...


def mode_of(spec: "RunSpec") -> Mode | None:
    """Return the mode of a feature; None for the modes in which a model is asked.

    Raises:
        UsageError: the feature is not installed.
    """
    target = MODES.get(spec.mode)
    return None if target is None else feature(target, f"--mode {spec.mode}")


def transport_of(spec: "RunSpec") -> Transport | None:
    """Return how requests are sent if not one by one, else None.

    Raises:
        UsageError: the feature is not installed.
    """
    return feature(TRANSPORTS["batch"], "--batch") if spec.batch else None
