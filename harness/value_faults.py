"""What is wrong with a value of a setting, a row or a request, in plain words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LONGEST_CHOICES = 400
"""Most characters of a list of allowed values."""
_KINDS: Mapping[str, str] = {
    "int": "must be a whole number",
    "float": "must be a number",
    "finite": "must be a number that is not infinite",
    "bool": "must be true or false",
    "string": "must be text",
    "date": "must be a day such as 2025-01-31",
    "list": "must be a list",
    "tuple": "must be a list",
    "dict": "must be keys with values",
    "mapping": "must be keys with values",
    "model": "must be keys with values",
    "missing": "missing",
    "extra": "unknown key",
}
"""Sentences by the first word of an error's type, where the value has another type."""
_OTHER_TYPE = frozenset(
    {
        *("", "type", "parsing", "attributes_type", "parsing_size", "from_float", "number"),
        *("forbidden", "sub_type", "from_datetime_parsing", "from_datetime_inexact"),
    }
)
"""Other words of such types."""
_BOUNDS: Mapping[str, tuple[str, str, str]] = {
    "greater_than": ("gt", "must be more than", ""),
    "greater_than_equal": ("ge", "must be at least", ""),
    "less_than": ("lt", "must be less than", ""),
    "less_than_equal": ("le", "must be at most", ""),
    "string_too_short": ("min_length", "must have at least", "character"),
    "string_too_long": ("max_length", "must have at most", "character"),
    "too_short": ("min_length", "must have at least", "entry"),
    "too_long": ("max_length", "must have at most", "entry"),
    "literal_error": ("expected", "must be", ""),
    "enum": ("expected", "must be", ""),
}
"""Types of pydantic's errors: key of the bound in the error's context, words before and after."""

_PLURALS = {"character": "characters", "entry": "entries"}


def fault_words(error: "ErrorDetails") -> str:
    """Return what is wrong, such as `must be at least 1`, without the value and its place.

    Args:
        error: an error of pydantic, with its context (its types are listed in pydantic's documents,
            "Validation Errors").
    """
    kind, context = error["type"], error.get("ctx", {})
    if kind in _BOUNDS:
        key, before, after = _BOUNDS[kind]
        bound = context[key]
        if isinstance(bound, float) and bound.is_integer():
            bound = int(bound)
        shown = str(bound)[:LONGEST_CHOICES]
        if after and bound != 1:
            after = _PLURALS[after]
        return f"{before} {shown} {after}".rstrip()
    if "error" in context and kind in ("value_error", "assertion_error"):
        return str(context["error"])
    first, _, rest = kind.partition("_")
    if first in _KINDS and rest in _OTHER_TYPE:
        return _KINDS[first]
    message = error["msg"]
    return message[:1].lower() + message[1:]
