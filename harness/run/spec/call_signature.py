"""Keyword arguments that a function takes as `**keys`, listed by `help()` and by editors."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def listing(keys: type[Any]) -> Callable[[F], F]:
    """Return a decorator that lists the keys of a `TypedDict` in a function's signature.

    A key that is not given has the default `...`: the run's own default, or that of the spec.

    Args:
        keys: the type of the function's `**` parameter, every key of which may be left out.
    """

    def listed(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {parameter.name for parameter in own}
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=kind)
            for name, kind in sorted(keys.__annotations__.items())
            if name not in taken
        ]
        setattr(function, "__signature__", signature.replace(parameters=[*own, *more]))  # noqa: B010
        return function

    return listed
