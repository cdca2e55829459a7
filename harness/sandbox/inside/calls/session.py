"""Carries out calls to a solution's names, in the order test code makes them.

A call and its outcome are one line of JSON each. Calls:

    ["call", function, arguments, named]      ["get", object, name]
    ["set", object, name, value]              ["do", operation, operands]
    ["make", class, arguments, named]         ["share", names of classes]

A function of the tests that stays with them is a handle here. Where the solution calls it, the
outcome of the line is `{"w": [handle, arguments, named]}`, and the lines that follow are what the
function calls, up to one of

    ["answer", value, arguments changed]      ["raise", exception, number]

whose outcome is that of the call that was interrupted. Calls of a handle that returns nothing do
not interrupt: an outcome has those since the last one as `"n"`.

`make` is a call of which the result stays here, even if its class is derived from `dict`. Objects
of shared classes, which the tests define too, are values. Outcomes are `{"v": value}` or
`{"x": exception}`, with `"a"`, the arguments after the call, if it changed one. Each outcome is
written at once, so that a time or memory limit does not lose the earlier ones. Expected values are
never in this process.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import builtins
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from inside.calls.exchange import Reader, UnsendableError, Writer, replace
from inside.calls.operations import OPERATIONS

CHUNK = 64
"""Number of items taken from an iterator at once."""
_MUTABLE = (list, dict, set, bytearray, deque)
_HOLDING = (*_MUTABLE, tuple, frozenset)
_CONSTANT = (int, float, complex, str, bytes, bool, type(None), range)


class _StopError(BaseException):
    """The solution waits for the tests, which are run when this process has ended."""


def _is_own_container(value: Any, kind: Any) -> bool:
    """Return whether a value is of the solution's class that was called, and holds others."""
    return type(value) is kind and isinstance(value, _HOLDING) and kind.__module__ == "solution"


class CallSession:
    """The calls of one run of a solution.

    Args:
        find: returns the solution's object of a name; raises if there is none.
        describe: returns the text of an exception.
        send: receives each outcome.
    """

    def __init__(
        self,
        find: Callable[[str], Any],
        describe: Callable[[BaseException], str],
        send: Callable[[bytes], None],
    ) -> None:
        self.find = find
        self.describe = describe
        self.send = send
        self.results: list[Any] = []
        self.objects: list[list[Any]] = []
        self.late: dict[int, BaseException] = {}
        self.shared: dict[str, Any] = {}
        self.reader = Reader(self._look_up, handle=self._handle)
        self.handles: dict[int, Callable[..., Any]] = {}
        self.thrown: dict[int, BaseException] = {}
        self.unsent: list[Any] = []
        self.lines: Iterator[str] = iter(())
        self.stopped = False
        self.lock = threading.RLock()

    def run(self, calls: str) -> None:
        """Carry out calls given one per line."""
        self.lines = filter(None, calls.split("\n"))
        for line in self.lines:
            outcome = self._outcome(json.loads(line))
            if self.stopped:
                return
            self._write_line(outcome)

    def _write_line(self, outcome: dict[str, Any]) -> None:
        if self.unsent:
            outcome["n"], self.unsent = self.unsent, []
        self.send(json.dumps(outcome).encode() + b"\n")

    def _handle(self, content: list[Any]) -> Callable[..., Any]:
        """Return the function that calls one of the tests."""
        number, name, returns_nothing = content
        if number not in self.handles:

            def handle(*arguments: Any, **named: Any) -> Any:
                values = (*arguments, *named.values())
                with self.lock:
                    called = [
                        number,
                        [self._write(each) for each in arguments],
                        {name: self._write(each) for name, each in named.items()},
                    ]
                    if not (returns_nothing and all(map(_is_constant, values))):
                        return self._wait(called, values)
                    self.unsent.append(called)
                    return None

            handle.__name__ = handle.__qualname__ = name
            self.handles[number] = handle
        return self.handles[number]

    def _wait(self, called: list[Any], values: tuple[Any, ...]) -> Any:
        """Return or raise what a function of the tests does; carry out its calls before."""
        if not self.stopped:
            self._write_line({"w": called})
        while not self.stopped and (line := next(self.lines, "")):
            kind, *rest = call = json.loads(line)
            if kind in {"answer", "raise"}:
                self.results.append(None)
                self.objects.append([])
                return self._answered(rest, values) if kind == "answer" else self._raise(*rest)
            outcome = self._outcome(call)
            if not self.stopped:
                self._write_line(outcome)
        self.stopped = True
        raise _StopError

    def _answered(self, answer: list[Any], values: tuple[Any, ...]) -> Any:
        value, left = answer
        for argument, now in zip(values, left, strict=True):
            if now:
                replace(argument, self.reader.read(now[0]))
        return self.reader.read(value)

    def _raise(self, description: dict[str, Any], number: int) -> None:
        kind = getattr(builtins, description["type"])
        error = kind.__new__(kind)
        error.args = tuple(map(self.reader.read, description["args"]))
        self.thrown[number] = error
        raise error

    def _outcome(self, call: list[Any]) -> dict[str, Any]:
        self.results.append(None)
        self.objects.append([])
        try:
            return self._carry_out(call)
        except UnsendableError as error:
            return {"x": {"types": ["ValueError", "Exception"], "text": f"the result is {error}"}}
        except BaseException as error:
            return {"x": self._exception(error)}

    def _carry_out(self, call: list[Any]) -> dict[str, Any]:
        kind, *rest = call
        match kind:
            case "call" | "make":
                return self._call(*rest, stays=kind == "make")
            case "share":
                self.shared = {name: self.find(name) for name in rest[0] if self._has(name)}
                self.reader = Reader(self._look_up, handle=self._handle, shared=self.shared)
                result = None
            case "get":
                result = getattr(self.reader.read(rest[0]), rest[1])
            case "set":
                result = setattr(self.reader.read(rest[0]), rest[1], self.reader.read(rest[2]))
            case _:
                operands = [self.reader.read(each) for each in rest[1]]
                do = self._chunk if rest[0] == "chunk" else OPERATIONS[rest[0]]
                result = do(*operands)
        return self._valued(result)

    def _has(self, name: str) -> bool:
        try:
            self.find(name)
        except NameError:
            return False
        return True

    def _call(
        self, function: Any, arguments: list[Any], named: dict[str, Any], *, stays: bool
    ) -> dict[str, Any]:
        function = self.reader.read(function)
        values = [self.reader.read(each) for each in arguments]
        names = {name: self.reader.read(each) for name, each in named.items()}
        result = function(*values, **names)
        outcome = self._valued(result, stays=stays and _is_own_container(result, function))
        if any(map(self._is_mutable, (*values, *names.values()))):
            left = [self._changed(*each) for each in zip(values, arguments, strict=True)]
            left += [self._changed(each, named[name]) for name, each in names.items()]
            if any(left):
                outcome["a"] = left
        return outcome

    def _changed(self, value: Any, given: Any) -> list[Any]:
        """Return the argument in a list if the call changed it, else an empty list."""
        try:
            written = self._write(value) if self._is_mutable(value) else given
        except UnsendableError:
            return []
        return [] if written == given else [written]

    def _is_mutable(self, value: Any) -> bool:
        return isinstance(value, _MUTABLE) or type(value).__name__ in self.shared

    def _valued(self, result: Any, *, stays: bool = False) -> dict[str, Any]:
        self.results[-1] = result
        return {"v": self._refer(result) if stays else self._write(result)}

    def _write(self, value: Any) -> Any:
        return Writer(self._refer, frozenset(self.shared)).write(value)

    def _refer(self, value: Any, _writer: Writer | None = None) -> Any:
        number = len(self.results) - 1
        name = type(value).__name__[:100]
        if value is self.results[-1]:
            return {"r": [number, -1, name]}
        self.objects[-1].append(value)
        return {"r": [number, len(self.objects[-1]) - 1, name]}

    def _look_up(self, place: list[Any]) -> Any:
        if len(place) == 1:
            return self.find(place[0])
        call, number, *_ = place
        return self.results[call] if number < 0 else self.objects[call][number]

    def _chunk(self, iterator: Iterator[Any]) -> list[Any]:
        """Return the next items, and whether the iterator is exhausted."""
        if id(iterator) in self.late:
            raise self.late.pop(id(iterator))
        items: list[Any] = []
        try:
            for item in islice(iterator, CHUNK):
                items.append(item)  # noqa: PERF402 - keeps the items before an exception
        except BaseException as error:
            if not items:
                raise
            self.late[id(iterator)] = error
            return [items, False]
        return [items, len(items) < CHUNK]

    def _exception(self, error: BaseException) -> dict[str, Any]:
        names = [
            kind.__name__
            for kind in type(error).__mro__
            if getattr(builtins, kind.__name__, kind) is kind  # and no class of the same name
        ]
        try:
            arguments = [Writer(_refuse).write(each) for each in error.args]
        except Exception:
            arguments = []
        description: dict[str, Any] = {
            "types": names,
            "args": arguments,
            "text": self.describe(error),
        }
        for number, each in self.thrown.items():
            if each is error:
                description["thrown"] = number
        return description


def _is_constant(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return type(value) in _CONSTANT


def _refuse(value: Any, _writer: Writer) -> Any:
    raise UnsendableError(type(value).__name__)
