"""Values as JSON, with their Python types, between a solution's process and its tests'.

None, booleans, strings, floats, lists and integers of ordinary size stand for themselves; every
other value is an object of one key:

    {"i": "-0x1f"}            an integer too long for a decimal
    {"u": [v, …]}             a tuple
    {"s": [v, …]}             a set; {"f": …} a frozenset
    {"d": [[k, v], …]}        a dict
    {"k": [name, v, …]}       an OrderedDict, Counter or defaultdict
    {"b": "6162"}             bytes; {"a": …} a bytearray
    {"z": [1.0, 2.0]}         a complex number
    {"g": [0, 5, 1]}          a range
    {"q": [maxlen, v, …]}     a deque
    {"m": ["Decimal", "1.5"]} a Decimal, Fraction, date, time, datetime or timedelta
    {"n": [dtype, v]}         a numpy array
    {"t": "int"}              a built-in type or exception
    {"c": …}                  a function of the tests, or of a module; {"h": number} is one that
                              leads to it
    {"o": [[type, pairs], …]} an object of a class that both sides define, and those that it leads
                              to, with their attributes; {"p": number} is one of them
    {"r": [call, place]}      an object that stays in the solution's process
    {"w": [number, name, …]}  a function that stays with the tests, see `inside.calls.handles`

Both sides may be hostile: what is read builds plain values, with two exceptions. `{"c": …}` makes a
function of code, and `{"w": …}` one that calls the tests; only the solution's side reads them.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownLambdaType=false

import base64
import builtins
import importlib
import marshal
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from inside.calls.slots import SENT_AS

MOST_VALUES = 20_000_000
DEEPEST = 200
SMALL_INTEGER = 1 << 62
PLAIN = frozenset({float, str, bool, type(None)})
FACTORIES: dict[str, Any] = {"int": int, "list": list, "dict": dict, "set": set, "str": str}
BUILT_IN_TYPES = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and value not in {type, super, property, memoryview}
}
_COLLECTIONS: dict[type, str] = {tuple: "u", set: "s", frozenset: "f"}
_BYTES: dict[type, str] = {bytes: "b", bytearray: "a"}
_TAGGED: dict[str, Any] = {tag: kind for kind, tag in (_COLLECTIONS | _BYTES).items()}
_TEXTS: dict[str, Callable[[str], Any]] = {
    "Decimal": Decimal,
    "Fraction": Fraction,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "datetime": datetime.fromisoformat,
    "timedelta": lambda text: timedelta(*map(int, text.split())),
}


class UnsendableError(Exception):
    """A value that cannot be sent; the message describes it."""


class Writer:
    """Converts values to JSON.

    Args:
        refer: converts an object that cannot be copied to a JSON reference; raises UnsendableError
            if references are not allowed.
        shared: names of classes that both sides define.
    """

    def __init__(
        self, refer: "Callable[[Any, Writer], Any]", shared: frozenset[str] = frozenset()
    ) -> None:
        self.refer = refer
        self.shared = shared
        self.left = MOST_VALUES
        self.places: dict[int, int] = {}
        self.objects: list[Any] = []
        self.functions: list[Any] = []

    def write(self, value: Any, depth: int = 0) -> Any:
        """Return a value as JSON. Raises UnsendableError."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is int:
            return value if -SMALL_INTEGER < value < SMALL_INTEGER else {"i": hex(value)}
        if depth > DEEPEST:
            raise UnsendableError("nested too deeply")
        if kind is list:
            return self._items(value, depth)
        return self._tagged(value, kind, depth)

    def _items(self, values: Any, depth: int) -> list[Any]:
        self.left -= len(values)
        if self.left < 0:
            raise UnsendableError("too large")
        return [self.write(value, depth + 1) for value in values]

    def _pairs(self, value: Any, depth: int) -> list[list[Any]]:
        items = list(dict.items(value))
        self.left -= len(items)
        return [[self.write(k, depth + 1), self.write(v, depth + 1)] for k, v in items]

    def _tagged(self, value: Any, kind: type, depth: int) -> Any:  # noqa: C901, PLR0911 - one case a line
        if kind in _COLLECTIONS:
            return {_COLLECTIONS[kind]: self._items(value, depth)}
        if kind is dict:
            return {"d": self._pairs(value, depth)}
        if kind in _BYTES:
            return {_BYTES[kind]: value.hex()}
        if kind is complex:
            return {"z": [value.real, value.imag]}
        if kind is range:
            return {"g": [self.write(n) for n in (value.start, value.stop, value.step)]}
        if kind is deque:
            return {"q": [value.maxlen, *self._items(value, depth)]}
        if kind in {OrderedDict, Counter, defaultdict}:
            return {"k": [_name_of_dict(value), *self._pairs(value, depth)]}
        if kind.__name__ in _TEXTS and kind.__module__ in {"decimal", "fractions", "datetime"}:
            return {"m": [kind.__name__, _text(value)]}
        if kind.__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
            return self._of_numpy(value, kind, depth)
        if isinstance(value, type) and BUILT_IN_TYPES.get(value.__name__) is value:
            return {"t": value.__name__}
        if isinstance(value, int | float | str | list | tuple | dict | set) and _is_plain(kind):
            return self.write(_base(value), depth)
        if kind.__name__ in self.shared and hasattr(value, "__dict__"):
            return self._shared(value, depth)
        return self.refer(value, self)

    def _shared(self, value: Any, depth: int) -> dict[str, Any]:
        """Return an object and those that it leads to, without recursion along a chain of them."""
        is_first = not self.objects
        if id(value) not in self.places:
            self.places[id(value)] = len(self.objects)
            self.objects.append(value)
        if not is_first:
            return {"p": self.places[id(value)]}
        rows = [
            [type(each).__name__, self._pairs(vars(each), depth)]
            for each in self.objects  # grows
        ]
        self.places, self.objects = {}, []
        return {"o": rows}

    def _of_numpy(self, value: Any, kind: type, depth: int) -> Any:
        plain = value.tolist()
        if kind.__name__ != "ndarray" or value.dtype.hasobject:
            return self.write(plain, depth + 1)
        return {"n": [str(value.dtype), self.write(plain, depth + 1)]}


def _is_plain(kind: type) -> bool:
    """Whether instances of a subclass are sent as plain values, e.g. named tuples.

    The plain value is used even if the class overrides comparison: a solution's class does not
    decide what it equals.
    """
    return not hasattr(kind, "_missing_")  # enums are not converted


def _base(value: Any) -> Any:
    """Return the plain value of a subclass instance, ignoring overridden methods."""
    plain: dict[type, Callable[[Any], Any]] = {
        int: int.__int__,
        float: float.__float__,
        str: str.__str__,
        list: lambda own: list(list.__iter__(own)),
        tuple: lambda own: tuple(tuple.__iter__(own)),
        dict: lambda own: dict(dict.items(own)),
        set: lambda own: set(set.__iter__(own)),
    }
    return next(make(value) for base, make in plain.items() if isinstance(value, base))


def _name_of_dict(value: Any) -> str:
    if type(value) is not defaultdict:
        return type(value).__name__
    factory = value.default_factory
    return f"defaultdict {getattr(factory, '__name__', '')}"


def _text(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value.days} {value.seconds} {value.microseconds}"
    return value.isoformat() if isinstance(value, date | time) else str(value)


class Reader:
    """Converts JSON back to values.

    Args:
        look_up: finds an object kept in the solution's process.
        handle: makes a function that calls one of the tests; None where no functions are read.
        shared: classes of which objects may be built, by name.
    """

    def __init__(
        self,
        look_up: Callable[[Any], Any],
        *,
        handle: Callable[[Any], Any] | None = None,
        shared: Mapping[str, Any] | None = None,
    ) -> None:
        self.look_up = look_up
        self.handle = handle
        self.shared = shared or {}
        self.objects: list[Any] = []
        self.functions_read: list[Any] = []

    def read(self, data: Any) -> Any:
        """Return the value. Raises arbitrary exceptions on data not written by `Writer`."""
        if type(data) is list:
            return [self.read(item) for item in data]
        if type(data) is not dict:
            return data
        ((tag, content),) = data.items()
        return self._tagged(tag, content)

    def _tagged(self, tag: str, content: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case a line
        match tag:
            case "i":
                return int(content, 16)
            case "u" | "s" | "f":
                return _TAGGED[tag](map(self.read, content))
            case "d":
                return {self.read(key): self.read(value) for key, value in content}
            case "k":
                return self._special_dict(content[0], content[1:])
            case "b" | "a":
                return _TAGGED[tag].fromhex(content)
            case "z":
                return complex(content[0], content[1])
            case "g":
                return range(*map(self.read, content))
            case "q":
                return deque(map(self.read, content[1:]), content[0])
            case "m":
                return _TEXTS[content[0]](content[1])
            case "n":
                return importlib.import_module("numpy").array(
                    self.read(content[1]), dtype=content[0]
                )
            case "t":
                return BUILT_IN_TYPES[content]
            case "c" if self.handle is not None:
                return self._function(content)
            case "w" if self.handle is not None:
                return self.handle(content)
            case "h":
                return self.functions_read[content]
            case "o":
                return self._shared(content)
            case "p":
                return self.objects[content]
            case "r":
                return self.look_up(content)
            case _:
                raise ValueError("an unknown tag")

    def _shared(self, rows: Any) -> Any:
        kinds = [self.shared[name] for name, _ in rows]
        before, self.objects = self.objects, [kind.__new__(kind) for kind in kinds]
        for kind, made, (_, pairs) in zip(kinds, self.objects, rows, strict=True):
            for name, value in pairs:
                if not callable(getattr(kind, name, None)):  # nobody replaces a method
                    object.__setattr__(made, name, self.read(value))
        first = self.objects[0]
        self.objects = before
        return first

    def _special_dict(self, name: str, pairs: Any) -> Any:
        items = [(self.read(key), self.read(value)) for key, value in pairs]
        if name == "Counter":
            return Counter(dict(items))
        if name == "OrderedDict":
            return OrderedDict(items)
        return defaultdict(FACTORIES.get(name.partition(" ")[2]), items)

    def _function(self, content: Any) -> Any:
        if len(content) <= 2:  # noqa: PLR2004 - a module and a name in it
            value: Any = importlib.import_module(content[0])
            for name in content[1].split(".") if content[1:] else ():
                value = getattr(value, name)
            return value
        code, defaults, named_defaults, contents, names = content
        namespace: dict[str, Any] = {"__builtins__": builtins}
        cells = tuple(types.CellType() for _ in contents)
        function = types.FunctionType(
            marshal.loads(base64.b64decode(code)),  # noqa: S302 - code of the tests, in a sandbox
            namespace,
            None,
            None,
            cells,
        )
        before = self.functions_read
        self.functions_read = [*before, function]
        function.__defaults__ = self.read(defaults)
        function.__kwdefaults__ = self.read(named_defaults)
        for cell, each in zip(cells, contents, strict=True):
            cell.cell_contents = self.read(each)
        namespace.update((name, self.read(value)) for name, value in names.items())
        self.functions_read = before
        return function


def replace(old: Any, new: Any) -> None:
    """Update a container to its state after the call, keeping its items if possible."""
    if isinstance(old, list) and isinstance(new, list):
        for place, item in enumerate(old[: len(new)]):
            new[place] = _replaced(item, new[place])
        old[:] = new
    elif isinstance(old, dict) and isinstance(new, dict):
        kept = {key: _replaced(old[key], value) for key, value in new.items() if key in old}
        old.clear()
        old.update(new | kept)
    elif isinstance(old, set) and isinstance(new, set):
        old.clear()
        old.update(new)
    elif type(old) is type(new) and hasattr(old, "__dict__"):
        vars(old).clear()
        vars(old).update(vars(new))
    elif isinstance(old, bytearray | deque) and isinstance(new, bytearray | deque):
        old.clear()
        old.extend(new)  # type: ignore[arg-type]


def _replaced(old: Any, new: Any) -> Any:
    if type(old) is type(new) and isinstance(old, list | dict | set | bytearray | deque):
        replace(old, new)
        return old
    return new


def write_function(value: Any, writer: Writer) -> Any:
    """Return a function as JSON: by name if a module's, as code if the tests' own.

    A function that it leads to may lead back to it.

    Raises:
        UnsendableError: it is not a function, or uses something that cannot be sent.
    """
    owner = getattr(value, "__objclass__", None)
    module = getattr(owner or value, "__module__", None)
    name = f"{owner.__name__}.{value.__name__}" if owner else getattr(value, "__qualname__", "")
    if isinstance(value, types.ModuleType):
        return {"c": [value.__name__]}
    if not isinstance(value, types.FunctionType) or _is_installed(module):
        if _is_installed(module) and name and "<" not in name:
            return {"c": [module, name]}
        raise UnsendableError(f"an object of type {type(value).__name__!r}")
    if value in writer.functions:
        return {"h": writer.functions.index(value)}
    writer.functions.append(value)
    code = value.__code__
    known = value.__globals__
    names = {name: SENT_AS.get(name, known[name]) for name in _names(code) if name in known}
    try:
        content = [
            base64.b64encode(marshal.dumps(code)).decode(),
            writer.write(value.__defaults__, 1),
            writer.write(value.__kwdefaults__, 1),
            [writer.write(cell.cell_contents, 1) for cell in value.__closure__ or ()],
            {name: writer.write(each, 1) for name, each in names.items()},
        ]
    finally:
        writer.functions.pop()
    return {"c": content}


def _is_installed(module: Any) -> bool:
    return isinstance(module, str) and module not in {"__main__", "tests", "solution"}


def _names(code: types.CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))
