"""Stand-in for an object in the solution's process.

An operator on it is a call there, with its operands, if the object's standing allows that; see
`inside.calls.standing`.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from collections.abc import Callable, Iterator
from typing import Any

from inside.calls.operations import OPERATIONS
from inside.calls.standing import MADE, NAMED, PLAIN_ATTRIBUTES, RETURNED, Calls, Facts

_OWN_SLOT = "__remote__"
_SHOWN = frozenset({"__name__", "__doc__", "__dict__"})
_ARITHMETIC = frozenset(
    {
        *("neg", "pos", "invert", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
        *("matmul", "and_", "or_", "xor", "lshift", "rshift"),
        *("iadd", "isub", "imul", "ior", "iand"),
    }
)


class MissingOutcomeError(BaseException):
    """The outcome of a call is needed but not known yet."""


def facts(remote: "Remote") -> Facts:
    """Return the facts about a stand-in; its attributes are those of the object."""
    return object.__getattribute__(remote, _OWN_SLOT)


def is_missing(value: Any) -> bool:
    """Return whether a value is the result of a call without a known outcome."""
    return isinstance(value, Remote) and facts(value).missing


def needed(value: Any) -> Any:
    """Return a value that Python needs at once. Raises MissingOutcomeError."""
    if is_missing(value):
        raise MissingOutcomeError
    return value


def _settled(remote: "Remote") -> Any:
    """Return a known value: that of a name, or a stand-in."""
    needed(remote)
    own = facts(remote)
    if own.is_name and not own.is_class:
        return needed(own.calls.do("value", remote))
    return remote


def _standing(value: Any) -> int:
    return facts(value).standing if isinstance(value, Remote) else RETURNED


def _refusal(value: "Remote", operation: str) -> str:
    kind = facts(value).name or "object"
    return f"the solution returned an object of type {kind!r}, which does not support {operation!r}"


def _operate(operation: str, remote: "Remote", *others: Any, back: bool = False) -> Any:
    """Apply an operator. Raises TypeError where the object may not be asked."""
    value = _settled(remote)
    others = tuple(map(needed, others))
    operands = (*others, value) if back else (value, *others)
    if not isinstance(value, Remote):
        return OPERATIONS[operation](*operands)
    remotes = [each for each in operands if isinstance(each, Remote)]
    levels = [_standing(each) for each in remotes]
    together = len(remotes) == len(operands) > 1 and max(levels) >= NAMED
    if not (together or _standing(value) == MADE):
        raise TypeError(_refusal(value, operation))
    result = needed(facts(remote).calls.do(operation, *operands))
    if isinstance(result, Remote) and operation in _ARITHMETIC and min(levels) == MADE:
        facts(result).standing = MADE
    return result


def _compared(operation: str, remote: "Remote", other: Any) -> Any:
    """Compare; an object of the solution is equal to no plain value."""
    value = _settled(remote)
    other = _settled(other) if isinstance(other, Remote) else other
    if not isinstance(value, Remote):
        return OPERATIONS[operation](value, other)
    if not isinstance(other, Remote):
        return _compared_as_data(operation, value, other)
    if max(_standing(value), _standing(other)) < NAMED:
        return NotImplemented
    return needed(facts(remote).calls.do(operation, value, other))


def _compared_as_data(operation: str, remote: "Remote", other: Any) -> Any:
    """Compare the data of an object of the tests, e.g. of a named tuple, with a plain value."""
    own = facts(remote)
    data = needed(own.calls.do("value", remote)) if own.standing == MADE else remote
    return NotImplemented if isinstance(data, Remote) else OPERATIONS[operation](data, other)


class Remote:
    """Stand-in for an object in the solution's process."""

    __slots__ = (_OWN_SLOT,)

    def __init__(
        self,
        calls: Calls,
        place: list[Any],
        name: str,
        *,
        missing: bool = False,
        standing: int = RETURNED,
    ) -> None:
        own = Facts(calls, place, name, missing=missing, standing=standing)
        object.__setattr__(self, _OWN_SLOT, own)

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: D102
        own = facts(self)
        value = own.calls.call(self, arguments, named)
        if own.is_class and isinstance(value, Remote):
            facts(value).standing = MADE
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _SHOWN:
            raise AttributeError(name)
        own = facts(self)
        if name in PLAIN_ATTRIBUTES and own.standing != MADE:
            value = _settled(self)
            if not isinstance(value, Remote):
                return getattr(value, name)
            raise AttributeError(_refusal(self, name), name=name, obj=None)
        value = own.calls.get(self, name)
        if own.is_class and isinstance(value, Remote):
            facts(value).standing = NAMED
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        facts(self).calls.set(self, name, value)

    def __delattr__(self, name: str) -> None:
        facts(self).calls.do("delattr", self, name)

    def __eq__(self, other: object) -> Any:
        return _compared("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _compared("ne", self, other)

    def __hash__(self) -> int:
        own = facts(self)
        value = _settled(self)
        if not isinstance(value, Remote):
            return hash(value)
        if own.is_name and not own.is_class:
            return hash(own.place[0])
        return own.calls.do("hash", value) if own.standing == NAMED else _operate("hash", value)

    def __bool__(self) -> bool:
        value = _settled(self)
        if isinstance(value, Remote):
            return _operate("bool", value) if _standing(value) == MADE else True
        return bool(value)

    def __repr__(self) -> str:
        own = facts(self)
        if own.calls.describing:
            return f"<{own.name or 'object'} of the solution>"
        return needed(own.calls.do("repr", needed(self)))

    def __str__(self) -> str:
        calls = facts(self).calls
        return repr(self) if calls.describing else needed(calls.do("str", needed(self)))

    def __format__(self, how: str) -> str:
        if facts(self).calls.describing or not how:
            return str(self)
        return _operate("format", self, how)

    def __iter__(self) -> Iterator[Any]:
        value = _settled(self)
        if not isinstance(value, Remote):
            return iter(value)
        if _standing(value) == MADE:
            return _items(value)
        place = tuple(facts(value).place)
        iterators = facts(value).calls.iterators
        iterator = iterators.setdefault(place, _items(value))
        if iterator is None:
            raise TypeError("the solution returned an iterator, and its items were taken before")
        return _once(iterator, place, iterators)

    def __next__(self) -> Any:
        own = facts(self)
        iterator = own.calls.iterators.get(tuple(own.place))
        return own.calls.do("next", self) if iterator is None else next(iterator)

    def __enter__(self) -> Any:
        return facts(self).calls.do("enter", self)

    def __exit__(self, *_error: object) -> None:
        facts(self).calls.do("exit", self)

    def __instancecheck__(self, value: Any) -> bool:
        needed(value)
        calls = facts(self).calls
        if isinstance(value, Remote):
            return bool(needed(calls.do("isinstance", value, self)))
        kind = needed(calls.do("value", self))
        return not isinstance(kind, Remote) and isinstance(value, kind)

    def __copy__(self) -> Any:
        return _copied("copy", self)

    def __deepcopy__(self, _memo: Any) -> Any:
        return _copied("deepcopy", self)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("an object of the solution cannot be pickled")


def _items(remote: Remote) -> Iterator[Any]:
    """Yield the items of an object, taken from it in chunks."""
    calls = facts(remote).calls
    iterator = needed(calls.do("iter", remote))
    if not isinstance(iterator, Remote):
        yield from iterator
        return
    done = False
    while not done:
        items, done = needed(calls.do("chunk", iterator))
        yield from items


def _once(iterator: Iterator[Any], place: tuple[Any, ...], iterators: Any) -> Iterator[Any]:
    """Yield the items that are left, and record when none is."""
    try:
        for item in iterator:  # noqa: UP028 - `yield from` ends it with the tests' loop
            yield item
    except Exception:
        iterators[place] = None
        raise
    iterators[place] = None


def _copied(operation: str, remote: Remote) -> Any:
    value = _settled(remote)
    if not isinstance(value, Remote):
        return OPERATIONS[operation](value)
    result = needed(facts(remote).calls.do(operation, value))
    if isinstance(result, Remote):
        facts(result).standing = _standing(value)
    return result


def _operator(name: str, *, back: bool = False) -> Callable[..., Any]:
    def operate(self: Remote, *others: Any) -> Any:
        return _operate(name, self, *others, back=back)

    return operate


def _comparison(name: str) -> Callable[..., Any]:
    def compare(self: Remote, other: Any) -> Any:
        return _compared(name, self, other)

    return compare


for _name in ("lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_name}__", _comparison(_name))
for _name in (
    *("len", "int", "float", "round", "reversed", "contains", "getitem", "setitem", "delitem"),
    *("neg", "pos", "abs", "invert", "index", "iadd", "isub", "imul", "ior", "iand"),
):
    setattr(Remote, f"__{_name}__", _operator(_name))
for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "divmod"),
    *("and", "or", "xor", "lshift", "rshift"),
):
    _named = f"{_name}_" if _name in {"and", "or"} else _name
    setattr(Remote, f"__{_name}__", _operator(_named))
    setattr(Remote, f"__r{_name}__", _operator(_named, back=True))
