"""Names of the modes in which a user's own agent works."""

EXTERNAL = ("external", "mcp")
"""The harness starts the agent, or (`mcp`) the agent connects to `harness mcp`."""

STARTED, COMES = EXTERNAL
