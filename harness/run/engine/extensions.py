"""What modes and transports of features do in a run that is planned."""

from collections.abc import Callable, Sequence
from pathlib import Path
from signal import Signals
from typing import Protocol, cast

from harness.problem import Problem
from harness.run.plan.modes import Mode, Transport, mode_of, transport_of
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory


class AgentMode(Mode, Protocol):
    """A mode that starts a user's own agent for each sample."""

    def with_agents(self, plan: Plan, path: Path) -> Plan:
        """Return the plan with a strategy that can start agents.

        Args:
            plan: the run's plan.
            path: the run directory, which need not exist yet.

        Raises:
            HarnessError: the agent cannot be started here.
        """
        ...


class RunTransport(Transport, Protocol):
    """A transport that sends all requests of a run."""

    async def with_answers(  # noqa: PLR0917 - the parts of a run
        self,
        plan: Plan,
        directory: RunDirectory,
        samples: Sequence[tuple[Problem, int]],
        tell: Callable[[str], None],
        stopping: Sequence[Signals],
        interrupted: Callable[[], None],
    ) -> Plan | None:
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


def agent_mode_of(plan: Plan) -> AgentMode | None:
    """Return the mode that starts the plan's agents; None if a model is used."""
    return cast("AgentMode | None", mode_of(plan.spec))


def run_transport_of(plan: Plan) -> RunTransport | None:
    """Return the transport of the plan's requests; None if they are sent one by one."""
    return cast("RunTransport | None", transport_of(plan.spec))
