"""Carries out calls to a solution's names, in the order test code makes them.

A call and its outcome are one line of JSON each. Calls:

    ["call", function, arguments, named]      ["get", object, name]
    ["set", object, name, value]              ["do", operation, operands]

Outcomes are `{"v": value}` or `{"x": exception}`, with `"a"`, the arguments after the call, if it
changed one. Each outcome is written at once, so that a time or memory limit does not lose the
earlier ones. Expected values are never in this process.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import json
import operator
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from inside.calls.exchange import Reader, UnsendableError, Writer

CHUNK = 64
"""Number of items taken from an iterator at once."""
_MUTABLE = (list, dict, set, bytearray, deque)


def _enter(value: Any) -> Any:
    return type(value).__enter__(value)


def _leave(value: Any) -> Any:
    return type(value).__exit__(value, None, None, None)


def _itself(value: Any) -> Any:
    return value


OPERATIONS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in (
        *("eq", "ne", "lt", "le", "gt", "ge", "contains", "getitem", "setitem", "delitem"),
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_"),
        *("xor", "lshift", "rshift", "neg", "pos", "abs", "invert", "index"),
        *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ior", "iand"),
    )
}
OPERATIONS.update(
    (each.__name__, each)
    for each in (
        *(len, bool, str, repr, hash, int, float, round, divmod, format, iter, next, reversed),
        *(isinstance, delattr),
    )
)
OPERATIONS.update(enter=_enter, exit=_leave, value=_itself)


class Session:
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
        self.reader = Reader(self._look_up, functions=True)

    def run(self, calls: str) -> None:
        """Carry out calls given one per line."""
        for line in calls.split("\n"):
            if line:
                self.send(json.dumps(self._outcome(json.loads(line))).encode() + b"\n")

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
            case "call":
                return self._call(*rest)
            case "get":
                result = getattr(self.reader.read(rest[0]), rest[1])
            case "set":
                result = setattr(self.reader.read(rest[0]), rest[1], self.reader.read(rest[2]))
            case _:
                operands = [self.reader.read(each) for each in rest[1]]
                do = self._chunk if rest[0] == "chunk" else OPERATIONS[rest[0]]
                result = do(*operands)
        return self._valued(result)

    def _call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        function = self.reader.read(function)
        values = [self.reader.read(each) for each in arguments]
        names = {name: self.reader.read(each) for name, each in named.items()}
        outcome = self._valued(function(*values, **names))
        if any(isinstance(each, _MUTABLE) for each in (*values, *names.values())):
            left = [self._changed(*each) for each in zip(values, arguments, strict=True)]
            left += [self._changed(each, named[name]) for name, each in names.items()]
            if any(left):
                outcome["a"] = left
        return outcome

    def _changed(self, value: Any, given: Any) -> list[Any]:
        """Return the argument in a list if the call changed it, else an empty list."""
        try:
            written = self._write(value) if isinstance(value, _MUTABLE) else given
        except UnsendableError:
            return []
        return [] if written == given else [written]

    def _valued(self, result: Any) -> dict[str, Any]:
        self.results[-1] = result
        return {"v": self._write(result)}

    def _write(self, value: Any) -> Any:
        return Writer(self._refer).write(value)

    def _refer(self, value: Any) -> Any:
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
        names = [kind.__name__ for kind in type(error).__mro__]
        try:
            arguments = [Writer(_refuse).write(each) for each in error.args]
        except Exception:
            arguments = []
        return {"types": names, "args": arguments, "text": self.describe(error)}


def _refuse(value: Any) -> Any:
    raise UnsendableError(type(value).__name__)
