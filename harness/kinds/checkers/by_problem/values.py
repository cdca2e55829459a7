"""What checkers ask of a returned value before they look into it."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any


def are_integers(value: Any, count: int) -> bool:
    """Return whether a value is a list of so many integers."""
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    )


def are_strings(value: Any) -> bool:
    """Return whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_grid(value: Any, like: list[list[Any]]) -> bool:
    """Return whether a value is a grid of integers, as large as another grid."""
    if not isinstance(value, list) or len(value) != len(like):
        return False
    return all(are_integers(row, len(other)) for row, other in zip(value, like, strict=True))
