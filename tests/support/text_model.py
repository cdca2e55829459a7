"""Models at a chat endpoint without native tool calls, as chat server scripts.

They are stateless, and read the results of their calls from the conversation.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from chat_server import Json, Reply, Script, completion, failure

USAGE = {"prompt_tokens": 100, "completion_tokens": 10}
Write = Callable[[str, Json], str]

# Refusals of tools by servers: name, status and message.
REFUSALS: Mapping[str, tuple[int, str]] = {
    "vLLM": (
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ),
    "Ollama": (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    "LiteLLM": (
        400,
        "litellm.UnsupportedParamsError: x does not support parameters: ['tools'], for model=y. "
        "To drop these, set `litellm.drop_params=True`",
    ),
    "OpenRouter": (
        404,
        "No endpoints found that support tool use. To learn more about provider routing, visit: "
        "https://openrouter.ai/docs/provider-routing",
    ),
}

# Messages of servers started without tools, with the status of an internal error.
WITHOUT_TOOLS: Mapping[str, tuple[int, str]] = {
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "SGLang": (500, "Internal server error: Unsupported tool_call_parser: None"),
}


def fenced(name: str, arguments: Json) -> str:
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```"


def tagged(name: str, arguments: Json) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def in_functions(name: str, arguments: Json) -> str:
    parameters = "".join(f"<parameter={k}>\n{v}\n</parameter>\n" for k, v in arguments.items())
    return f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>"


WAYS: Mapping[str, Write] = {"fenced": fenced, "tagged": tagged, "functions": in_functions}


def caller(solutions: Mapping[str, str], write: Write = fenced) -> Script:
    """Return a script that hands in nonsense, then solves the problem; both with calls as text."""

    def script(body: Json, number: int) -> Reply:
        del number
        assert all(message["role"] != "tool" for message in body["messages"])
        user = str(_user(body))
        code = next(code for title, code in solutions.items() if f"# {title}\n" in user)
        is_first = len(body["messages"]) == 2 and "## Your program" not in user
        calls = ("write_solution", {"code": "print(0)" if is_first else code}), ("run_tests", {})
        return completion("\n".join(write(*call) for call in calls), usage=USAGE)

    return script


def talker(solutions: Mapping[str, str]) -> Script:
    """Return a script that never calls a tool; asked without tools, it solves."""

    def script(body: Json, number: int) -> Reply:
        del number
        has_tools = "tools" in body or "run_tests" in str(body["messages"])
        for title, code in solutions.items():
            if not has_tools and f"# {title}\n" in str(_user(body)):
                return completion(f"```python\n{code}\n```", usage=USAGE)
        return completion("I would read the problem first.", usage=USAGE)

    return script


def _user(body: Json) -> Any:
    """Return the user's first message, which names the problem."""
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


def refusing(script: Script, status: int, message: str) -> Script:
    """Return the script at an endpoint that refuses tools."""
    return lambda body, n: failure(status, message) if body.get("tools") else script(body, n)
