"""The text in a call that failed: the last resort, where a model has handed in nothing else."""

import re
from collections.abc import Iterator
from typing import Any, cast

from harness.models.text_tools.arguments import read_object, without_fence
from harness.models.text_tools.repair import Unreadable, is_source, likeliest, unescaped

_VALUE = r"[\"'`]?\b(?:{key})[\"'`]?\s*+[:=]\s*+(\"\"\"|'''|[\"'`])"
_END = "\"'` \t\r\n}]),;"


def text_in_call(arguments: str, key: str) -> str:
    """Return the text that a failed call was meant to hand in; empty if there is none.

    Args:
        arguments: the call's arguments as the model wrote them, perhaps broken off.
        key: the argument that holds the text.
    """
    try:
        values = read_object(arguments, None)
    except Unreadable:
        return _broken_text(arguments, key)
    if not isinstance(values, dict):
        return ""
    fields = cast("dict[str, Any]", values)
    return without_fence(next(_texts(fields, key), ""))


def _texts(fields: dict[str, Any], key: str) -> Iterator[str]:
    """Yield the argument, or others that are source code of several lines."""
    if isinstance(fields.get(key), str):
        yield fields[key]
    for value in fields.values():
        if isinstance(value, str) and "\n" in value.strip() and is_source(value):
            yield value


def _broken_text(arguments: str, key: str) -> str:
    """Return what follows the first quote after the key."""
    match = re.search(_VALUE.replace("{key}", re.escape(key)), arguments)
    if match is None:
        return ""
    body = arguments[match.end() :].rstrip(_END)
    text = arguments[match.end() :]
    return likeliest(unescaped(body), body, unescaped(text), text) if body else ""
