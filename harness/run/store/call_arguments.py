"""Readable arguments of tool calls: the program or answer, and the rest."""

from typing import Any, cast

from pydantic_core import from_json, to_json

from harness.models.protocol import ToolCall

LONGEST_ARGUMENTS = 4 * 1024 * 1024
"""Characters; longer arguments are not parsed."""


def arguments(call: ToolCall) -> str:
    """Return a call's arguments in readable form: just the program, if there is one."""
    return program(call) or call.arguments


def program(call: ToolCall) -> str | None:
    """Return the program or answer in a call's arguments; None if there is none."""
    named = fields(call.arguments)
    code = named.get("code", named.get("answer"))
    return code if isinstance(code, str) else None


def other_arguments(call: ToolCall) -> str:
    """Return the arguments other than the program or answer."""
    given = fields(call.arguments).items()
    rest = {key: value for key, value in given if key not in {"code", "answer"}}
    return to_json(rest, indent=2).decode() if rest else ""


def fields(arguments: str) -> dict[str, Any]:
    """Return a call's arguments by name; none if they are too long or not a JSON object."""
    if len(arguments) > LONGEST_ARGUMENTS or not arguments.strip():
        return {}
    try:
        values: Any = from_json(arguments)
    except ValueError:
        return {}
    return cast("dict[str, Any]", values) if isinstance(values, dict) else {}
