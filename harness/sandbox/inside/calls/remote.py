"""The calls that test code makes of a solution.

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
import types
from collections.abc import Iterable, Iterator
from typing import Any

from inside.calls.exchange import Reader, UnsendableError, Writer, replace, write_function
from inside.calls.handles import Handles, can_be_handle, keeps_state
from inside.calls.signals import SIGNALS, SolutionError, as_error
from inside.calls.stand_in import MissingOutcomeError, Remote, facts
from inside.calls.standing import MADE, RETURNED

MOST_CALLS = 200_000
MOST_SKIPPED = 20_000
ALONE_JUDGING = frozenset({"bool", "hash"})
"""Operations on one object of the solution that influence a verdict; those on several all do."""


class ExhaustedError(BaseException):
    """The tests made too many calls or skipped too many statements."""


class RemoteCalls:
    """The calls made by tests, and the known outcomes.

    Args:
        known: calls already carried out, one line of JSON each.
        outcomes: outcomes of the first of those calls, one line each.
        classes: names of the solution's classes, of which the tests make objects.
        entry_point: name of the function or class that is tested.

    Attributes:
        made: the calls of this run, in order.
        used: number of outcomes returned.
        guessing: whether an outcome was missing, so that later results are unreliable.
        asked: number of times an object of the solution influenced a test's verdict.
        describing: whether values are only being displayed, which makes no calls.
        iterators: items left of objects that the tests iterate, by place; None where none is.
        handles: functions of the tests that the solution can call.
        thrown: exceptions that those functions raised.
    """

    def __init__(
        self, known: str, outcomes: str, classes: Iterable[str] = (), entry_point: str = ""
    ) -> None:
        self.known = known.split("\n") if known else []
        self.outcomes = outcomes.split("\n")[:-1]
        self.made: list[str] = []
        self.guessing = False
        self.asked = 0
        self.used = 0
        self.skipped = 0
        self.describing = False
        self.classes = frozenset(classes)
        self.entry_point = entry_point
        self.iterators: dict[tuple[Any, ...], Iterator[Any] | None] = {}
        self.exceptions: dict[str, type[BaseException]] = {}
        self.shared: frozenset[str] = frozenset()
        self.handles = Handles()
        self.thrown: list[BaseException] = []
        self.reader = Reader(self._refer_to)

    def share(self, shared: dict[str, Any]) -> None:
        """Exchange objects of some classes by value, which both sides define."""
        if shared:
            self.shared = frozenset(shared)
            self.reader = Reader(self._refer_to, shared=shared)
            self.make(["share", [*shared]])

    def _refer_to(self, place: Any) -> Remote:
        return Remote(self, place[:2], str(place[2]))

    def name(self, name: str) -> Remote:
        """Return the stand-in for a name of the solution."""
        return Remote(self, [name], name, standing=MADE if name in self.classes else RETURNED)

    def write(self, value: Any) -> Any:
        """Return a value in the form calls hold it. Raises UnsendableError."""
        return Writer(self._refer, self.shared).write(value)

    def _refer(self, value: Any, writer: Writer) -> Any:
        if isinstance(value, Remote):
            return {"r": facts(value).place}
        if not can_be_handle(value):
            return write_function(value, writer)
        if not (isinstance(value, types.FunctionType) and keeps_state(value)):
            try:
                return write_function(value, writer)
            except UnsendableError:
                pass
        return self.handles.write(value)

    def call(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a function or class of the solution."""
        written = [self.write(each) for each in arguments]
        names = {name: self.write(each) for name, each in named.items()}
        kind = "make" if isinstance(function, Remote) and facts(function).is_class else "call"
        value, left = self.make([kind, self.write(function), written, names])
        if self._judges(function, value):
            self.asked += 1
        for argument, now in zip((*arguments, *named.values()), left, strict=False):
            if now:
                replace(argument, self.reader.read(now[0]))
        return value

    def _judges(self, function: Any, value: Any) -> bool:
        """Return whether a call's plain result is the solution's word on other results."""
        own = facts(function)
        return own.is_name and own.place[0] != self.entry_point and not isinstance(value, Remote)

    def get(self, owner: Any, name: str) -> Any:
        """Return an attribute of an object of the solution."""
        return self.make(["get", self.write(owner), name])[0]

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of an object of the solution."""
        self.make(["set", self.write(owner), name, self.write(value)])

    def do(self, operation: str, *operands: Any) -> Any:
        """Apply a Python operation to objects of the solution."""
        if len(operands) > 1 or operation in ALONE_JUDGING:
            self.asked += 1
        return self.make(["do", operation, [self.write(each) for each in operands]])[0]

    def make(self, call: list[Any]) -> tuple[Any, list[Any]]:
        """Return the call's value and its changed arguments. Raises what the call raised."""
        may_end = call[:2] == ["do", "next"]
        outcome = self._outcome(call)
        while outcome is not None and "w" in outcome:
            outcome = self._outcome(self._answer(outcome["w"]))
        if outcome is not None:
            return self._read(outcome, may_end=may_end)
        return Remote(self, [len(self.made) - 1, -1], "", missing=True), []

    def _outcome(self, call: list[Any]) -> dict[str, Any] | None:
        """Make a call and return its outcome; None where it is not known."""
        number = len(self.made)
        line = json.dumps(call)
        if not self.guessing and number < len(self.outcomes) and self._is_known(number, line):
            self.made.append(self.known[number])
            self.used += 1
            outcome = _parsed(self.outcomes[number])
            for called in outcome.get("n", ()):
                self._run(called)
            return outcome
        self.guessing = True
        if number >= MOST_CALLS:
            raise ExhaustedError
        self.made.append(line)
        return None

    def _answer(self, called: Any) -> list[Any]:
        """Return what the solution gets for a call of a handle."""
        try:
            value, left = self._run(called)
        except UnsendableError:
            raise
        except (Exception, *SIGNALS) as error:
            self.thrown.append(error)
            return ["raise", _description(error), len(self.thrown) - 1]
        return ["answer", self.write(value), left]

    def _run(self, called: Any) -> tuple[Any, list[Any]]:
        """Run a function of the tests with the solution's arguments.

        Returns:
            Its value and the arguments that it changed, as `call` returns them.
        """
        try:
            number, positional, named = called
            function = self.handles.find(number)
            arguments = [self.reader.read(each) for each in positional]
            names = {name: self.reader.read(each) for name, each in named.items()}
        except Exception as error:
            raise SolutionError(
                f"its call of a function of the tests cannot be read: {type(error).__name__}"
            ) from None
        value = function(*arguments, **names)
        written = [*positional, *named.values()]
        now = [self.write(each) for each in (*arguments, *names.values())]
        return value, [
            [] if before == after else [after] for before, after in zip(written, now, strict=True)
        ]

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

    def _read(self, outcome: dict[str, Any], *, may_end: bool) -> tuple[Any, list[Any]]:
        """Return an outcome; `may_end`: whether it may be the end of an iterator."""
        try:
            if "x" not in outcome:
                return self.reader.read(outcome["v"]), outcome.get("a", [])
            error = self._exception(outcome["x"], may_end=may_end)
        except (MissingOutcomeError, ExhaustedError):
            raise
        except Exception as error:
            raise SolutionError(f"its answer cannot be read: {type(error).__name__}") from None
        raise error

    def _exception(self, description: dict[str, Any], *, may_end: bool) -> BaseException:
        if (thrown := description.get("thrown")) is not None:
            error = self.thrown[thrown]
            if not isinstance(error, SIGNALS):
                return error
        for name in description["types"]:
            kind = self.exceptions.get(name) or getattr(builtins, name, None)
            if isinstance(kind, type) and issubclass(kind, BaseException):
                if not (may_end and kind is StopIteration):
                    kind = as_error(kind)
                error = kind.__new__(kind)
                error.args = tuple(map(self.reader.read, description.get("args", [])))
                error.__dict__["solution_text"] = str(description.get("text", name))
                return error
        return SolutionError(str(description.get("text", "")))

    def skip(self) -> None:
        """Count a statement skipped because an outcome is missing.

        Raises:
            ExhaustedError: it is one too many.
            RuntimeError: no outcome is missing.
        """
        if not self.guessing:
            raise RuntimeError("a statement was left out although no outcome was missing")
        self.skipped += 1
        if self.skipped > MOST_SKIPPED:
            raise ExhaustedError


def _parsed(line: str) -> dict[str, Any]:
    try:
        outcome = json.loads(line)
    except Exception as error:
        raise SolutionError(f"its answer cannot be read: {type(error).__name__}") from None
    if not isinstance(outcome, dict):
        raise SolutionError("its answer cannot be read: it is no object")
    return outcome


def _description(error: BaseException) -> dict[str, Any]:
    """Return an exception as the solution gets it: its built-in type, and plain arguments."""
    kinds = [each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins"]
    try:
        arguments = [Writer(_refuse).write(each) for each in error.args]
    except Exception:
        arguments = []
    return {"type": kinds[0], "args": arguments}


def _refuse(value: Any, _writer: Writer) -> Any:
    raise UnsendableError(type(value).__name__)


__all__ = ["ExhaustedError", "MissingOutcomeError", "Remote", "RemoteCalls", "UnsendableError"]
