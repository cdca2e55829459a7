"""What a feature may add to a run: a user's own agent, or a transport of requests.

`harness.registry` names the implementations; `harness.run.plan.target` looks them up, once. The
core uses these protocols and knows no feature.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from signal import Signals
from typing import Any, Protocol, TypeVar

from harness.models.route import Route
from harness.problem import Problem
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory

P = TypeVar("P")
"""The run's plan, `harness.run.plan.plan.Plan`."""


class OwnAgent(Protocol):
    """Starts a user's own agent for each sample; the harness sends no requests."""

    def check(self, spec: RunSpec) -> None:
        """Refuse incompatible settings. Raises UsageError."""
        ...

    def model_name(self, spec: RunSpec) -> str:
        """Return the model name for the results. Raises UsageError."""
        ...

    def facts(self, spec: RunSpec) -> Mapping[str, Any]:
        """Return the agent's entries in `run.json`."""
        ...

    def notice(self, spec: RunSpec) -> str:
        """Return the line shown before the run starts."""
        ...

    def limits(self, spec: RunSpec) -> tuple[int | None, float | None]:
        """Return the most tool calls and working seconds of a sample; None is no limit."""
        ...

    def with_agents(self, plan: P, path: Path) -> P:
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

    def check(self, spec: RunSpec, name: str, route: Route | None) -> None:
        """Refuse a run that the transport does not support. Raises UsageError.

        Args:
            spec: the run's spec.
            name: name of the run's model.
            route: route of its requests; None if the harness itself sends none.
        """
        ...

    async def with_answers(  # noqa: PLR0917 - the parts of a run
        self,
        plan: P,
        directory: RunDirectory,
        samples: Sequence[tuple[Problem, int]],
        tell: Callable[[str], None],
        stopping: Sequence[Signals],
        interrupted: Callable[[], None],
    ) -> P | None:
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
