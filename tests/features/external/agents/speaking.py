"""How the agents of the tests speak MCP: with nothing but the standard library."""

import json
import os
import urllib.error
import urllib.request
from typing import Any

CONFIG = os.environ["HARNESS_MCP_CONFIG"]


def server() -> dict[str, Any]:
    with open(CONFIG, encoding="utf-8") as file:
        return json.load(file)["mcpServers"]["harness"]


def ask(body: object, headers: dict[str, str] | None = None, url: str | None = None) -> Any:
    """Post anything; the status and the body of what comes back."""
    there = server()
    request = urllib.request.Request(
        url or there["url"],
        json.dumps(body).encode() if not isinstance(body, bytes) else body,
        {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(there["headers"] if headers is None else headers),
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:  # it was cut off
        return 0, str(error)


def request(method: str, **params: Any) -> Any:
    status, text = ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return json.loads(text) if status == 200 else {"status": status, "text": text}


def hello(name: str = "test agent") -> None:
    client = {"name": name, "version": "1"}
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    request("initialize", **parameters)


def call(tool: str, **arguments: Any) -> str:
    result = request("tools/call", name=tool, arguments=arguments)
    return result["result"]["content"][0]["text"] if "result" in result else json.dumps(result)
