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
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return None
    try:
        values: Any = from_json(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return None
    if not isinstance(values, dict):
        return None
    named = cast("dict[str, Any]", values)
    code = named.get("code", named.get("answer"))
    return code if isinstance(code, str) else None


def other_arguments(call: ToolCall) -> str:
    """Return the arguments other than the program or answer."""
    if len(call.arguments) > LONGEST_ARGUMENTS:
        return ""
    values = cast("dict[str, Any]", from_json(call.arguments))
    rest = {key: value for key, value in values.items() if key not in {"code", "answer"}}
    return to_json(rest, indent=2).decode() if rest else ""
