"""Extension points for features: modes with a user's own agent, and transports.

`harness.registry` names the implementations. The core uses these protocols and knows no feature.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any, Protocol

from harness.registry import MODES, TRANSPORTS, feature

if TYPE_CHECKING:
    from harness.problem import Problem
    from harness.run.plan.plan import Plan
    from harness.run.plan.target import Target
    from harness.run.spec.spec import RunSpec
    from harness.run.store.directory import RunDirectory


class Mode(Protocol):
    """A mode in which a user's own agent works, and the harness sends no requests."""

    def check(self, spec: "RunSpec") -> None:
        """Refuse incompatible settings. Raises UsageError."""
        ...

    def model_name(self, spec: "RunSpec") -> str:
        """Return the model name for the results. Raises UsageError."""
        ...

    def facts(self, spec: "RunSpec") -> Mapping[str, Any]:
        """Return the agent's entries in `run.json`."""
        ...

    def notice(self, spec: "RunSpec") -> str:
        """Return the line shown before the run starts."""
        ...

    def limits(self, spec: "RunSpec") -> tuple[int | None, float | None]:
        """Return the most tool calls and working seconds of a sample; None is no limit."""
        ...

    def armed(self, plan: "Plan", path: Path) -> "Plan":
        """Return the plan with a strategy that can start agents.

        Args:
            plan: the run's plan.
            path: the run directory, which need not exist yet.

        Raises:
            HarnessError: the agent cannot be started here.
        """
        ...


class Transport(Protocol):
    """A way of sending a run's requests other than one by one."""

    def check(self, spec: "RunSpec", target: "Target") -> None:
        """Refuse a run that the transport does not support. Raises UsageError.

        Args:
            spec: the run's spec.
            target: the run's model.
        """
        ...

    async def answered(  # noqa: PLR0917 - the parts of a run
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
            plan: the run's plan.
            directory: the run directory.
            samples: samples without a result.
            tell: called with a line for the user.
            stopping: signals that count as interrupts.
            interrupted: called at each interrupt.
        """
        ...


def mode_of(spec: "RunSpec") -> Mode | None:
    """Return the mode of a feature; None for modes in which a model is used.

    Raises:
        UsageError: the feature is not installed.
    """
    target = MODES.get(spec.mode)
    return None if target is None else feature(target, f"--mode {spec.mode}")


def transport_of(spec: "RunSpec") -> Transport | None:
    """Return the transport if requests are not sent one by one, else None.

    Raises:
        UsageError: the feature is not installed.
    """
    return feature(TRANSPORTS["batch"], "--batch") if spec.batch else None
