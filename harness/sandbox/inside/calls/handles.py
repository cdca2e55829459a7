"""Functions of the tests that stay with the tests: a solution gets a handle, and calls that.

A function goes to the solution as code if it keeps nothing. One that may change something of the
tests (`seen.append(x)`, `global count`) stays, as does whatever has no code that could be sent: a
method, an object that can be called. Where the solution calls its handle, the function runs here,
on the tests' own objects, with copies of the arguments.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

import dis
import types
from collections import deque
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from inside.calls.slots import SENT_AS
from inside.calls.stand_in import Remote

_CONSTANT = (
    *(int, float, complex, str, bytes, range, frozenset, type(None), type),
    *(Decimal, Fraction, date, time, timedelta),
    *(types.ModuleType, types.BuiltinFunctionType, types.MethodType),
)
"""Types of what a function can refer to without changing it; methods are handles of their own."""
_READING = frozenset(
    {"keys", "values", "items", "get", "copy", "index", "count", "difference", "intersection"}
).union(
    *({name for name in dir(kind) if name[0] != "_"} for kind in (str, bytes, int, float, tuple)),
)
"""Attributes of plain data that change nothing."""
_CHANGES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "DELETE_ATTR"})
_REBINDS = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_REBINDS_OUTER = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_CHANGING_FUNCTIONS = frozenset({"next", "setattr", "delattr", "exec", "eval"})
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200
_LAZY = _GENERATOR | _COROUTINE | _ASYNC_GENERATOR
"""Flags of functions of which a call returns what cannot be sent."""
_RETURN_NOTHING = frozenset(
    {"append", "appendleft", "add", "extend", "insert", "update", "discard", "clear"}
)


class Handles:
    """The functions of the tests that a solution has a handle of, by number."""

    def __init__(self) -> None:
        self.functions: list[Any] = []

    def write(self, function: Any) -> dict[str, Any]:
        """Return the handle as JSON: its number, its name, and whether it returns nothing."""
        number = next((n for n, each in enumerate(self.functions) if _is(each, function)), None)
        if number is None:
            number = len(self.functions)
            self.functions.append(function)
        name = getattr(function, "__name__", type(function).__name__)
        return {"w": [number, str(name), _returns_nothing(function)]}

    def find(self, number: Any) -> Any:
        """Return a function. Raises ValueError if the solution has no such handle."""
        if type(number) is not int or not 0 <= number < len(self.functions):
            raise ValueError("no such handle")
        return self.functions[number]


def _is(one: Any, other: Any) -> bool:
    bound = (types.BuiltinFunctionType, types.MethodType)  # made anew each time they are named
    return one is other or (isinstance(one, bound) and type(one) is type(other) and one == other)


def can_be_handle(value: Any) -> bool:
    """Return whether a value can stay with the tests and be called by the solution."""
    if isinstance(value, types.FunctionType):
        return not value.__code__.co_flags & _LAZY
    return callable(value) and not isinstance(value, type | Remote)


def keeps_state(function: types.FunctionType) -> bool:
    """Return whether a call of a function may change something of the tests."""
    outer = set(function.__code__.co_freevars)
    with_default = _parameters_with_default(function)
    changes = False
    before = ""
    for each in _instructions(function.__code__):
        name, what = each.opname, each.argval
        if before.endswith("=") and name == "STORE_FAST" and what in with_default:  # `kept += [x]`
            changes = True
        before = each.argrepr if name == "BINARY_OP" else ""
        if name in _REBINDS or (name in _REBINDS_OUTER and what in outer):
            return True
        changes |= name in _CHANGES
        if name in {"LOAD_ATTR", "LOAD_METHOD"}:
            changes |= what not in _READING
        elif name == "LOAD_GLOBAL" and what not in SENT_AS:
            known = function.__globals__.get(what)
            changes |= what in _CHANGING_FUNCTIONS or isinstance(known, types.FunctionType)
    return changes and any(map(_is_changeable, _referred(function)))


def _parameters_with_default(function: types.FunctionType) -> set[str]:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    first = len(positional) - len(function.__defaults__ or ())
    return {*positional[first:], *(function.__kwdefaults__ or {})}


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _instructions(each)


def _referred(function: types.FunctionType) -> Iterator[Any]:
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty until its variable is set
            continue
    for each in _instructions(function.__code__):
        known = function.__globals__
        if each.opname == "LOAD_GLOBAL" and each.argval in known and each.argval not in SENT_AS:
            yield known[each.argval]


def _is_changeable(value: Any) -> bool:
    if isinstance(value, types.FunctionType):
        return bool(vars(value))
    if type(value) is tuple:
        return any(map(_is_changeable, value))
    return type(value) is not Remote and not isinstance(value, _CONSTANT)


def _returns_nothing(function: Any) -> bool:
    """Return whether a function always returns None, and raises nothing by itself."""
    if isinstance(function, types.BuiltinFunctionType):
        owner = type(function.__self__)
        return owner in {list, set, dict, deque} and function.__name__ in _RETURN_NOTHING
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    before = None
    for each in dis.get_instructions(code):
        if each.opname == "RAISE_VARARGS":
            return False
        if each.opname == "RETURN_CONST" and each.argval is not None:
            return False
        if each.opname == "RETURN_VALUE" and (
            before is None or before.opname != "LOAD_CONST" or before.argval is not None
        ):
            return False
        before = each
    return True
