"""The modes `external` and `mcp` as a `Mode` of a run."""

from pathlib import Path
from typing import Any

from harness.features.external.mode import (
    agent_facts,
    agent_name,
    check_external,
    seconds_of,
    told_of,
    tool_calls_of,
)
from harness.features.external.setup import with_agents
from harness.run.plan.plan import Plan
from harness.run.spec.spec import RunSpec


class ExternalMode:
    """The modes `external` and `mcp`; satisfies `harness.run.engine.extensions.AgentMode`."""

    def check(self, spec: RunSpec) -> None:
        """Refuse settings that cannot be combined. Raises UsageError."""
        check_external(spec)

    def model_name(self, spec: RunSpec) -> str:
        """Return the agent's name in the results. Raises UsageError."""
        return agent_name(spec)

    def facts(self, spec: RunSpec) -> dict[str, Any]:
        """Return the agent's entry in `run.json`."""
        return agent_facts(spec)

    def notice(self, spec: RunSpec) -> str:
        """Return the line that is shown before the run starts."""
        return told_of(spec)

    def limits(self, spec: RunSpec) -> tuple[int | None, float | None]:
        """Return the limits of tool calls and seconds of a sample; None for no limit."""
        return tool_calls_of(spec), seconds_of(spec)

    def with_agents(self, plan: Plan, path: Path) -> Plan:
        """Return the plan with a strategy that can start agents. Raises HarnessError."""
        return with_agents(plan, path)


MODE = ExternalMode()
