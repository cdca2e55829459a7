"""Modes in which a user's own agent works."""

from harness.agent.strategies.modes import Mode

_AGENT = "harness.features.external.setup:AGENT"
"""What starts the agent; see `harness.run.plan.target.OwnAgent`."""

EXTERNAL = Mode(
    name="external",
    title="the external agent",
    label="external",
    options=(
        *("agent_command", "agent_read", "agent_env", "agent_memory"),
        "agent_without_namespace",
    ),
    requests=lambda _: (0, 0),
    asks=False,
    tools=True,
    agent=_AGENT,
)
"""An agent of the user that the harness starts."""
MCP = Mode(
    name="mcp",
    title="mcp",
    requests=lambda _: (0, 0),
    asks=False,
    tools=True,
    agent=_AGENT,
    begun_by="mcp",
)
"""An agent of the user that connects to `harness mcp`."""
