"""Names of the modes in which an agent of the user's own works."""

EXTERNAL = ("external", "mcp")
"""The harness starts the agent, or the agent connects (`harness mcp`)."""

STARTED, COMES = EXTERNAL
