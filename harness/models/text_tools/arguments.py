"""Arguments of a call: read strictly, then repaired, then as the text between quotes."""

import re
from enum import Enum, auto
from typing import Any

from harness.models.protocol import ToolSpec
from harness.models.text_tools.quoted import between_quotes
from harness.models.text_tools.repair import (
    Unreadable,
    Value,
    is_source,
    repaired_value,
    strict_value,
)

_REST = re.compile(r"[\s,;}\])]*+\Z")
_FENCED = re.compile(r"\s*+(`{3,}|~{3,})[^\n`]{0,50}\n(.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)
_LINE_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)


class End(Enum):
    """What is known of the end of a text that holds a call.

    `MARKED`: a marker follows; `OPEN`: the message ends there; `CUT_OFF`: the message was cut off
    there. Then nothing is repaired: half a text must not become an argument.
    """

    MARKED = auto()
    OPEN = auto()
    CUT_OFF = auto()


def read_object(text: str, tool: ToolSpec | None, end: End = End.MARKED) -> Any:
    """Return the arguments in a text.

    Args:
        text: the arguments as the model wrote them, and nothing else.
        tool: the tool that is called; None if it is unknown.
        end: what is known of the end of the text.

    Raises:
        Unreadable: the text is not JSON and cannot be repaired.
    """
    value = _value(text, tool, end)
    if isinstance(value, str):  # some models encode the arguments twice
        again = strict_value(value.strip())
        return value if again is None or again.end != len(value.strip()) else again.value
    return value


def _value(text: str, tool: ToolSpec | None, end: End) -> Any:
    newlines = end is End.CUT_OFF
    strict = strict_value(text, len(text) - len(text.lstrip()), newlines=newlines)
    if strict is not None and not text[strict.end :].strip():
        return strict.value
    if end is End.CUT_OFF:
        raise Unreadable
    if strict is not None and (fields := strict.fields) is not None and _is_rest(text, strict):
        return fields
    return _repaired_object(text, tool, end)


def _repaired_object(text: str, tool: ToolSpec | None, end: End) -> dict[str, Any]:
    """Return the arguments in a text that is not JSON. Raises Unreadable."""
    try:
        value = repaired_value(text)
    except Unreadable:
        pass
    else:
        if (fields := value.fields) is not None and _is_rest(text, value):
            return fields
    key = None if tool is None else tool.sole_text
    quoted = None if key is None else between_quotes(text, key, closed=end is End.MARKED)
    if quoted is None:
        raise Unreadable
    return quoted


def _is_rest(text: str, value: Value) -> bool:
    """Return whether nothing but brackets follows a value."""
    return _REST.match(text, value.end) is not None


def without_fence(text: str) -> str:
    """Return the content of a fence if it is around the whole text, else the text."""
    match = _FENCED.match(text)
    if match is None or (_LINE_FENCE.search(match[2]) and not is_source(match[2])):
        return text
    return match[2] + "\n"
