"""List the keys of a spec in the signature of a Python function."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def listing(keys: type[Any]) -> Callable[[F], F]:
    """Return a decorator that lists a `TypedDict`'s keys in a function's signature.

    A key that is not given has the default `...`: the run's own default, or that of the spec.

    Args:
        keys: type of the function's `**` parameter; all its keys are optional.
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
