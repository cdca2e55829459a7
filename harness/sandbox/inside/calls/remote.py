"""Stand-ins for a solution in test code; each use of one is recorded as a call.

Tests are run repeatedly, each time with the outcomes of more calls, until no outcome is missing: a
rerun replaces waiting for an answer. A call without a known outcome returns a `Remote` whose value
is missing. A statement that needs the value is skipped, so that the calls of later statements are
requested in the same round.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import builtins
import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from inside.calls.exchange import Reader, UnsendableError, Writer, write_function

MOST_CALLS = 200_000
MOST_SKIPPED = 20_000
JUDGING = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "contains", "bool", "isinstance"})
"""Operations in which an object of the solution influences a test's verdict."""
_SHOWN = frozenset({"__name__", "__doc__", "__dict__"})


class MissingOutcomeError(BaseException):
    """The outcome of a call is needed but not known yet."""


class ExhaustedError(BaseException):
    """The tests made too many calls or skipped too many statements."""


class RemoteCalls:
    """The calls made by tests, and the known outcomes.

    Args:
        known: calls already carried out, one line of JSON each.
        outcomes: outcomes of the first of those calls, one line each.

    Attributes:
        made: the calls of this run, in order.
        used: number of outcomes returned.
        guessing: whether an outcome was missing, so that later results are unreliable.
        asked: number of times an object of the solution influenced a test's verdict.
        describing: whether values are only being displayed, which makes no calls.
    """

    def __init__(self, known: str, outcomes: str) -> None:
        self.known = known.split("\n") if known else []
        self.outcomes = outcomes.split("\n")[:-1]
        self.made: list[str] = []
        self.guessing = False
        self.asked = 0
        self.used = 0
        self.skipped = 0
        self.describing = False
        self.exceptions: dict[str, type[BaseException]] = {}
        self.reader = Reader(lambda place: Remote(self, place[:2], str(place[2])), functions=False)

    def write(self, value: Any) -> Any:
        """Return a value in the form calls hold it. Raises UnsendableError."""
        return Writer(self._refer).write(value)

    def _refer(self, value: Any) -> Any:
        if isinstance(value, Remote):
            return {"r": object.__getattribute__(value, "_place")}
        return write_function(value, Writer(self._refer))

    def call(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a function or class of the solution."""
        written = [self.write(each) for each in arguments]
        names = {name: self.write(each) for name, each in named.items()}
        value, left = self.make(["call", self.write(function), written, names])
        for argument, now in zip((*arguments, *named.values()), left, strict=False):
            if now:
                replace(argument, self.reader.read(now[0]))
        return value

    def do(self, operation: str, *operands: Any) -> Any:
        """Apply a Python operation to objects of the solution."""
        if operation in JUDGING:
            self.asked += 1
        return self.make(["do", operation, [self.write(each) for each in operands]])[0]

    def make(self, call: list[Any]) -> tuple[Any, list[Any]]:
        """Return the call's value and its changed arguments. Raises what the call raised."""
        number = len(self.made)
        line = json.dumps(call)
        if not self.guessing and number < len(self.outcomes) and self._is_known(number, line):
            self.made.append(self.known[number])
            self.used += 1
            return self._read(self.outcomes[number])
        self.guessing = True
        if number >= MOST_CALLS:
            raise ExhaustedError
        self.made.append(line)
        return Remote(self, [number, -1], "", missing=True), []

    def _is_known(self, number: int, line: str) -> bool:
        known = self.known[number]
        return known == line or json.dumps(self._with_values(json.loads(known))) == line

    def _with_values(self, data: Any) -> Any:
        """Replace numbers of earlier calls by the plain values they returned."""
        match data:
            case list():
                return [self._with_values(item) for item in data]
            case {"r": [int(call), -1]} if call < len(self.outcomes):
                value = json.loads(self.outcomes[call]).get("v", data)
                return data if isinstance(value, dict) and "r" in value else value
            case dict():
                return {key: self._with_values(value) for key, value in data.items()}
            case _:
                return data

    def _read(self, line: str) -> tuple[Any, list[Any]]:
        try:
            outcome = json.loads(line)
            if "x" not in outcome:
                return self.reader.read(outcome["v"]), outcome.get("a", [])
            error = self._exception(outcome["x"])
        except (MissingOutcomeError, ExhaustedError):
            raise
        except Exception as error:
            raise SolutionError(f"its answer cannot be read: {type(error).__name__}") from None
        raise error

    def _exception(self, said: dict[str, Any]) -> BaseException:
        for name in said["types"]:
            kind = self.exceptions.get(name) or getattr(builtins, name, None)
            if isinstance(kind, type) and issubclass(kind, BaseException):
                error = kind.__new__(kind)
                error.args = tuple(map(self.reader.read, said.get("args", [])))
                error.__dict__["solution_text"] = str(said.get("text", name))
                return error
        return SolutionError(str(said.get("text", "")))

    def skip(self) -> None:
        """Count a statement skipped because an outcome is missing."""
        self.skipped += 1
        if self.skipped > MOST_SKIPPED:
            raise ExhaustedError


class SolutionError(Exception):
    """A failure of the solution that no built-in exception represents."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.solution_text = text


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
    elif isinstance(old, bytearray | deque) and isinstance(new, bytearray | deque):
        old.clear()
        old.extend(new)  # type: ignore[arg-type]


def _replaced(old: Any, new: Any) -> Any:
    if type(old) is type(new) and isinstance(old, list | dict | set | bytearray | deque):
        replace(old, new)
        return old
    return new


class Remote:
    """Stand-in for an object in the solution's process."""

    def __init__(
        self, calls: RemoteCalls, place: list[Any], name: str, *, missing: bool = False
    ) -> None:
        facts = {"_calls": calls, "_place": place, "_name": name, "_missing": missing}
        for key, value in facts.items():
            object.__setattr__(self, key, value)

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: D102
        return self._calls.call(self, arguments, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _SHOWN:
            raise AttributeError(name)
        return self._calls.make(["get", self._calls.write(self), name])[0]

    def __setattr__(self, name: str, value: Any) -> None:
        self._calls.make(["set", self._calls.write(self), name, self._calls.write(value)])

    def __delattr__(self, name: str) -> None:
        self._calls.do("delattr", self, name)

    def _need(self, value: Any) -> Any:
        """Return a value that Python needs at once. Raises MissingOutcomeError."""
        if isinstance(value, Remote) and object.__getattribute__(value, "_missing"):
            raise MissingOutcomeError
        return value

    def _ask(self, operation: str, *others: Any) -> Any:
        """Apply an operation to the object itself, which must be known."""
        return self._need(self._calls.do(operation, self._need(self), *others))

    def _compare(self, operation: str, other: Any) -> Any:
        self._need(self)
        self._need(other)
        if len(object.__getattribute__(self, "_place")) == 1:  # only a name: fetch its value
            value = self._ask("value")
            if not isinstance(value, Remote):
                mine = {"eq": value == other, "ne": value != other}
                return mine.get(operation, NotImplemented)
        if not isinstance(other, Remote):
            return NotImplemented  # an object of the solution must not decide what it equals
        return self._ask(operation, other)

    def __eq__(self, other: object) -> Any:
        return self._compare("eq", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("ne", other)

    def __hash__(self) -> int:
        return self._ask("hash")

    def __repr__(self) -> str:
        if self._calls.describing:
            return f"<{object.__getattribute__(self, '_name') or 'object'} of the solution>"
        return self._ask("repr")

    def __str__(self) -> str:
        return repr(self) if self._calls.describing else self._ask("str")

    def __iter__(self) -> Iterator[Any]:
        iterator = self._ask("iter")
        if not isinstance(iterator, Remote):
            yield from iterator
            return
        done = False
        while not done:
            items, done = self._need(self._calls.do("chunk", iterator))
            yield from items

    def __next__(self) -> Any:
        return self._calls.do("next", self)

    def __enter__(self) -> Any:
        return self._calls.do("enter", self)

    def __exit__(self, *_error: object) -> None:
        self._calls.do("exit", self)

    def __instancecheck__(self, value: Any) -> bool:
        self._need(value)
        return bool(self._need(self._calls.do("isinstance", value, self)))


def _asking(name: str) -> Callable[..., Any]:
    def ask(self: Remote, *others: Any) -> Any:
        return self._ask(name, *others)  # pyright: ignore[reportPrivateUsage]

    return ask


def _asking_back(name: str) -> Callable[..., Any]:
    def ask(self: Remote, other: Any) -> Any:
        need = self._need  # pyright: ignore[reportPrivateUsage]
        return need(self._calls.do(name, other, need(self)))

    return ask


def _comparing(name: str) -> Callable[..., Any]:
    def ask(self: Remote, other: Any) -> Any:
        return self._compare(name, other)  # pyright: ignore[reportPrivateUsage]

    return ask


for _name in ("lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_name}__", _comparing(_name))
for _name in ("len", "bool", "int", "float", "round", "reversed", "format", "contains"):
    setattr(Remote, f"__{_name}__", _asking(_name))
for _name in ("getitem", "setitem", "delitem"):
    setattr(Remote, f"__{_name}__", _asking(_name))
for _name in (
    "neg",
    "pos",
    "abs",
    "invert",
    "index",
    "iadd",
    "isub",
    "imul",
    "ior",
    "iand",
    "format",
    "contains",
):
    setattr(Remote, f"__{_name}__", _asking(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "divmod"):
    setattr(Remote, f"__{_name}__", _asking(_name))
    setattr(Remote, f"__r{_name}__", _asking_back(_name))
for _name in ("and", "or", "xor", "lshift", "rshift"):
    _operation = f"{_name}_" if _name in {"and", "or"} else _name
    setattr(Remote, f"__{_name}__", _asking(_operation))
    setattr(Remote, f"__r{_name}__", _asking_back(_operation))

__all__ = ["ExhaustedError", "MissingOutcomeError", "Remote", "RemoteCalls", "UnsendableError"]
