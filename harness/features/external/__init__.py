"""External agents, over MCP: `--agent-command` and `harness mcp`.

command, mcp_run: `harness mcp`. modes: `external` and `mcp`. setup: checks and limits.
session: the MCP session of one sample. stdio, http: transports.
process, agent_sandbox: starting an agent, and what it may see and use.
"""
