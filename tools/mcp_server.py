"""The tools as an MCP server, for agents that are separate programs.

It holds only the tools' descriptions and a function that executes calls: no problem, no tests. The
`mcp` package implements the Model Context Protocol (https://modelcontextprotocol.io).
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import PydanticSerializationError, to_json

from harness.models.protocol import ToolMessage, ToolSpec
from harness.version import __version__

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server

NAME = "harness"
LONGEST_MESSAGE = 2 << 20
"""Largest message of a client in bytes: fits the longest solution, escaped."""
LONGEST_CLIENT = 100

Carry = Callable[[str, str], Awaitable[ToolMessage]]
"""Executes a call, given the tool's name and its arguments as JSON."""


def server_of(
    specs: Sequence[ToolSpec],
    carry: Carry,
    *,
    instructions: str,
    met: Callable[[str], None],
) -> "Server[Any]":
    """Return a server for some tools.

    Args:
        specs: the tools.
        carry: executes a call, whatever its name.
        instructions: text for clients that connect.
        met: called with the name of a client.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server

    _be_quiet()
    tools = [
        types.Tool(name=s.name, description=s.description, input_schema=s.parameters) for s in specs
    ]

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:  # noqa: ARG001
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Any,  # noqa: ARG001 - the protocol of a handler
        params: types.CallToolRequestParams,
    ) -> types.CallToolResult:
        result = await carry(params.name, arguments_text(params.arguments))
        words = types.TextContent(type="text", text=result.content)
        return types.CallToolResult(content=[words], is_error=result.is_error)

    async def notice(
        ctx: "ServerRequestContext[Any, Any]", call_next: "CallNext"
    ) -> "HandlerResult":
        client = _client_in(ctx.params)
        if client:
            met(client)
        return await call_next(ctx)

    server = Server(
        NAME,
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(notice)
    return server


def arguments_text(arguments: Mapping[str, Any] | None) -> str:
    """Return a call's arguments as JSON, as a model would have written them."""
    try:
        return to_json(arguments or {}).decode()
    except PydanticSerializationError:  # lone surrogate
        return json.dumps(arguments)


def _client_in(params: Mapping[str, Any] | None) -> str:
    """Return the client's name in a message: its first, or every one's `_meta`.

    https://modelcontextprotocol.io/specification has both ways.
    """
    found: Any = None
    if params:
        meta = params.get("_meta")
        found = params.get("clientInfo")
        if found is None and isinstance(meta, Mapping):
            found = cast("Mapping[str, Any]", meta).get("io.modelcontextprotocol/clientInfo")
    if not isinstance(found, Mapping):
        return ""
    named = cast("Mapping[str, Any]", found)
    words = f"{named.get('name', '')} {named.get('version', '')}".strip()
    return words[:LONGEST_CLIENT]


def _be_quiet() -> None:
    """Silence loggers: a client's errors are reported only to the client."""
    for name in ("mcp", "uvicorn", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
