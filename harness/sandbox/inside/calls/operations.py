"""Operations of Python that test code may apply to an object of the solution, by name."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import copy
import operator
from collections.abc import Callable
from typing import Any

OPERATIONS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in (
        *("eq", "ne", "lt", "le", "gt", "ge", "contains", "getitem", "setitem", "delitem"),
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "and_", "or_"),
        *("xor", "lshift", "rshift", "neg", "pos", "abs", "invert", "index"),
        *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ior", "iand"),
    )
}


def _enter(value: Any) -> Any:
    return type(value).__enter__(value)


def _leave(value: Any) -> Any:
    return type(value).__exit__(value, None, None, None)


def _itself(value: Any) -> Any:
    return value


OPERATIONS.update(
    (each.__name__, each)
    for each in (
        *(len, bool, str, repr, hash, int, float, round, divmod, format, iter, next, reversed),
        *(isinstance, delattr, pow, copy.copy, copy.deepcopy),
    )
)
OPERATIONS.update(enter=_enter, exit=_leave, value=_itself)
