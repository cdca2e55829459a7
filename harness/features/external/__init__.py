"""Agents of the user's own over MCP: `--agent-command` and `harness mcp`."""
