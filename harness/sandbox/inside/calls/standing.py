"""Standing of a solution's object in test code: what the tests may ask of it.

So that no solution is told an expected value, or decides what its results equal, each object has a
standing, known from the tests' own text:

- `MADE`: the tests call a class of the solution. The object has all of Python's operators.
- `NAMED`: the tests name it: an attribute of a class. It can be compared with other objects.
- `RETURNED`: any other result. It can be called, iterated once, shown as text, and asked for
  attributes that plain data do not have. Operators, conversions and methods of plain data fail.

An operator between two objects needs one that the tests made or named: no value of the tests goes
over then.
"""

from collections.abc import Iterator
from typing import Any, Protocol

RETURNED, NAMED, MADE = range(3)
_PLAIN_TYPES = (
    *(bool, bytes, bytearray, complex, dict, float, frozenset, int, list, range, set, str, tuple),
    memoryview,
)
_OF_ARRAYS = frozenset(
    {
        *("all", "any", "argmax", "argmin", "argsort", "astype", "cumsum", "diagonal", "dot"),
        *("dtype", "equal", "equals", "fill", "flat", "flatten", "isclose", "item", "itemsize"),
        *("max", "mean", "min", "nbytes", "ndim", "nonzero", "prod", "ravel", "reshape", "round"),
        *("shape", "size", "squeeze", "std", "sum", "T", "tobytes", "tolist", "trace", "transpose"),
        *("values", "var"),
    }
)
PLAIN_ATTRIBUTES = _OF_ARRAYS.union(
    *({name for name in dir(kind) if not name.startswith("__")} for kind in _PLAIN_TYPES)
)
"""Attributes of plain data and arrays, which a returned object may not pretend to be."""


class Calls(Protocol):
    """What a stand-in needs of the calls, a `inside.calls.remote.RemoteCalls`."""

    describing: bool
    classes: frozenset[str]
    iterators: dict[tuple[Any, ...], Iterator[Any] | None]

    def call(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any: ...  # noqa: D102
    def do(self, operation: str, *operands: Any) -> Any: ...  # noqa: D102
    def get(self, owner: Any, name: str) -> Any: ...  # noqa: D102
    def set(self, owner: Any, name: str, value: Any) -> None: ...  # noqa: D102


class Facts:
    """What a stand-in knows of its object.

    Attributes:
        calls: the calls of the tests.
        place: a name of the solution, or the call that returned it.
        name: name of the object or of its type, for people.
        missing: whether the outcome of the call is not known yet.
        standing: `RETURNED`, `NAMED` or `MADE`.
    """

    __slots__ = ("calls", "missing", "name", "place", "standing")

    def __init__(
        self, calls: Calls, place: list[Any], name: str, *, missing: bool, standing: int
    ) -> None:
        self.calls = calls
        self.place = place
        self.name = name
        self.missing = missing
        self.standing = standing

    @property
    def is_name(self) -> bool:
        """Whether the tests give its name, and its value is not fetched."""
        return len(self.place) == 1

    @property
    def is_class(self) -> bool:
        """Whether it is a class that the tests name."""
        return self.is_name and self.place[0] in self.calls.classes
