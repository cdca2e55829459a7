"""An agent that speaks MCP with the `mcp` package's own client."""

import asyncio
import json
import sys

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        there = json.load(file)["mcpServers"]["harness"]
    async with (
        httpx2.AsyncClient(headers=there["headers"], timeout=60) as http,
        Client(streamable_http_client(there["url"], http_client=http)) as client,
    ):
        await client.call_tool("read_problem", {})
        code = "a, b = map(int, input().split())\nprint(a + b)\n"
        await client.call_tool("write_solution", {"code": code})
        result = await client.call_tool("run_tests", {})
        print(result.content[0].text)


asyncio.run(main())
