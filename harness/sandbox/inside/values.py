"""A function's arguments and results as data: JSON in, tagged JSON out.

Runs beside the judged code and trusts nothing made by it. A result is written as JSON in which
lists, strings, booleans, None, floats and integers of ordinary size stand for themselves.
Everything else is an object with one key:

    {"i": "-0x1f"}        an integer too long for a decimal
    {"u": [v, …]}         a tuple
    {"q": [name, v, …]}   any other sequence or iterable, with the name of its type: a range, a
                          generator, a deque, a numpy array; or a list in place of a linked list or
                          tree that the signature asks for
    {"d": [[k, v], …]}    a mapping, keys of any kind
    {"s": [v, …]}         a set
    {"l": [v, …]}         a linked list, from its head
    {"c": [n, v, …]}      a cyclic one, whose last node leads back to node n, from 0
    {"t": [v, None, …]}   a binary tree, level by level, trailing None dropped
    {"o": "name"}         anything else, and cyclic trees: it equals nothing

`harness.grading.rules` reads it on the other side, and `untag` here, for checkers.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportAttributeAccessIssue=false

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from . import nodes

MAX_DEPTH = 200
MAX_ITEMS = 20_000_000
SMALL = 1 << 62
_MANY_NODES = frozenset({"linked_lists", "trees"})
_OF_NODES = frozenset({"linked_list", "tree"}) | _MANY_NODES
_EQUAL_LISTS = frozenset({"UserList", "SortedList", "SortedKeyList"})
"""Non-list types whose `==` accepts an equal list."""
_PLAIN = frozenset({int, float, str, bool, type(None)})
_dumps = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_loads = json.loads


class TooLargeError(Exception):
    """A result has more items than any expected value."""


class _Budget:
    """Limits the items of one result, so that endless iterators and cyclic lists end."""

    def __init__(self) -> None:
        self.left = MAX_ITEMS

    def take(self, values: Iterable[Any]) -> list[Any]:
        taken = list(islice(values, self.left + 1))
        self.left -= len(taken)
        if self.left < 0:
            raise TooLargeError
        return taken


def encode(value: Any, result: str, arguments: list[Any], codecs: list[str]) -> bytes:
    """Encode the result of a call as bytes.

    Args:
        value: the entry point's return value.
        result: the signature's codec; a codec of nodes defines what None stands for.
        arguments: the arguments after the call; an in-place problem is judged by the first, a
            checker may look at all.
        codecs: codecs of the arguments.
    """
    if result == "first_argument" and value is None and arguments:
        value, result = arguments[0], codecs[0] if codecs else "json"
    if result in _MANY_NODES and isinstance(value, list | tuple):
        heads = [_as_nodes(item) for item in value]
        value = heads if isinstance(value, list) else tuple(heads)
    elif result in _OF_NODES:
        value = _as_nodes(value)
    if result == "int_keys" and isinstance(value, Mapping):
        value = {str(k) if type(k) is int else k: v for k, v in value.items()}
    if result == "everything":
        value = [value, arguments]
    return _dumps(_encode(value, 0, _Budget())).encode()


def _as_nodes(value: Any) -> Any:
    """Return the head or root a signature asks for: None is empty, a list neither."""
    if value is None:
        return []
    return PlainList(value) if isinstance(value, list) else value


def _encode(  # noqa: C901, PLR0911, PLR0912 - one case a line
    value: Any, depth: int, budget: _Budget
) -> Any:
    kind = type(value)
    if kind is int:
        return value if -SMALL < value < SMALL else {"i": hex(value)}
    if kind in _PLAIN:
        return value
    if depth > MAX_DEPTH:
        return {"o": "nested too deeply"}
    if isinstance(value, list):
        return _encode_items(budget.take(value), depth, budget)
    if isinstance(value, tuple):
        return {"u": _encode_items(budget.take(value), depth, budget)}
    if isinstance(value, int | float | str):
        return _encode_subclass(value)
    if isinstance(value, Mapping):
        pairs = budget.take(value.items())
        return {
            "d": [[_encode(k, depth + 1, budget), _encode(v, depth + 1, budget)] for k, v in pairs]
        }
    if isinstance(value, AbstractSet) and not hasattr(value, "mapping"):
        return {"s": _encode_items(budget.take(value), depth, budget)}
    if hasattr(value, "left") and hasattr(value, "right") and hasattr(value, "val"):
        return _encode_tree(value, depth, budget)  # with or without `next`
    if hasattr(value, "next") and hasattr(value, "val"):
        return _encode_chain(value, depth, budget)
    if kind is Decimal or kind is Fraction:
        return _encode_exact(value)
    name = kind.__name__[:100]
    if hasattr(value, "tolist"):  # a scalar or array, of numpy or of the library
        plain = value.tolist()
        if not isinstance(plain, list):
            return _encode(plain, depth + 1, budget)
        return {"q": [name, *_encode_items(budget.take(plain), depth, budget)]}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | memoryview):
        items = _encode_items(budget.take(value), depth, budget)
        return items if name in _EQUAL_LISTS else {"q": [name, *items]}
    return {"o": name}


def _encode_items(items: list[Any], depth: int, budget: _Budget) -> list[Any]:
    kinds = set(map(type, items))
    if kinds <= _PLAIN and (int not in kinds or _all_small(items, kinds)):
        return items
    return [_encode(item, depth + 1, budget) for item in items]


def _all_small(items: list[Any], kinds: set[type]) -> bool:
    numbers = items if kinds <= {int, bool} else [item for item in items if type(item) is int]
    return min(numbers) > -SMALL and max(numbers) < SMALL


def _encode_subclass(value: float | str) -> Any:
    """Return the plain value of a subclass instance, ignoring overridden methods."""
    if isinstance(value, int):
        plain = int.__add__(value, 0)
        return plain if -SMALL < plain < SMALL else {"i": hex(plain)}
    if isinstance(value, float):
        return float.__add__(value, 0.0)
    return str.__str__(value)


def _encode_exact(value: Any) -> Any:
    """Encode a number as an equal integer or float; without one it equals nothing."""
    try:
        whole, near = int(value), float(value)
    except (ValueError, OverflowError):  # not finite, or out of float range
        return {"o": type(value).__name__}
    if whole == value:
        return whole if -SMALL < whole < SMALL else {"i": hex(whole)}
    return near if near == value else {"o": type(value).__name__}


def _encode_chain(head: Any, depth: int, budget: _Budget) -> Any:
    back: list[int] = []
    items = _encode_items(budget.take(nodes.chain(head, back)), depth, budget)
    return {"c": [*back, *items]} if back else {"l": items}


def _encode_tree(root: Any, depth: int, budget: _Budget) -> Any:
    try:
        values = budget.take(nodes.levels(root))
    except nodes.CycleError:
        return {"o": "cyclic tree"}
    while values and values[-1] is None:
        values.pop()
    return {"t": _encode_items(values, depth, budget)}


def decode_arguments(text: str, codecs: list[str], namespace: dict[str, Any]) -> list[Any]:
    """Return a call's arguments from one JSON value per line.

    Nodes use the classes in the solution's namespace, including its own definitions. In the tagged
    notation they are lists if there is no such class.
    """
    values = [_loads(line) for line in text.split("\n") if line.strip()]
    padded = [*codecs, *["json"] * (len(values) - len(codecs))]
    return [_decode(value, codec, namespace) for value, codec in zip(values, padded, strict=False)]


def _decode(  # noqa: PLR0911 - one case a line
    value: Any, codec: str, namespace: dict[str, Any]
) -> Any:
    if value is None:
        return None
    match codec:
        case "linked_list":
            return nodes.linked_list(value, namespace["ListNode"])
        case "tree":
            return nodes.tree(value, namespace["TreeNode"])
        case "linked_lists" | "trees":
            return [_decode(item or [], codec[:-1], namespace) for item in value]
        case "int_keys":
            return {int(key): item for key, item in value.items()}
        case "tagged":
            return untag(value, namespace)
        case "tagged_lists":
            return untag(_listed(value), namespace)
        case _:
            return value


class Opaque:
    """A value that is not data; equal only to itself."""


class PlainList(Sequence[Any]):
    """A sequence equal to no list: another iterable, or a list in place of nodes."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]


def _listed(tagged: Any) -> Any:
    """Replace all other sequences by lists."""
    match tagged:
        case list():
            return [_listed(item) for item in tagged]
        case {"u": items} | {"q": [_, *items]}:
            return [_listed(item) for item in items]
        case dict():
            return {tag: _listed(value) for tag, value in tagged.items()}
        case _:
            return tagged


def untag(  # noqa: C901, PLR0911 - one case a line
    tagged: Any, namespace: dict[str, Any]
) -> Any:
    """Decode the tagged notation; keys and set items are made immutable."""
    match tagged:
        case list():
            return [untag(item, namespace) for item in tagged]
        case {"i": digits}:
            return int(digits, 16)
        case {"u": items}:
            return tuple(untag(item, namespace) for item in items)
        case {"q": ["deque", *items]}:
            return deque(untag(item, namespace) for item in items)
        case {"q": [_, *items]}:
            return PlainList([untag(item, namespace) for item in items])
        case {"d": pairs}:
            return {_hashable(untag(k, namespace)): untag(v, namespace) for k, v in pairs}
        case {"s": items}:
            return {_hashable(untag(item, namespace)) for item in items}
        case {"l": items}:
            return _linked(untag(items, namespace), None, namespace)
        case {"c": [back, *items]}:
            return _linked(untag(items, namespace), back, namespace)
        case {"t": items}:
            values = untag(items, namespace)
            return nodes.tree(values, namespace["TreeNode"]) if "TreeNode" in namespace else values
        case dict():
            return Opaque()
        case _:
            return tagged


def _hashable(value: Any) -> Any:
    match value:
        case list() | tuple():
            return tuple(map(_hashable, value))
        case set():
            return frozenset(value)
        case _:
            return value


def _linked(values: list[Any], back: int | None, namespace: dict[str, Any]) -> Any:
    if "ListNode" not in namespace:
        return values
    return nodes.linked_list(values, namespace["ListNode"], back)
