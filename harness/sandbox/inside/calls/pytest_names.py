"""The part of pytest that test code may use: `raises`, `approx` and `fail`."""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
import re
from types import ModuleType
from typing import Any, Self

RELATIVE, ABSOLUTE = 1e-6, 1e-12


def module() -> ModuleType:
    """Return a module of the name pytest."""
    made = ModuleType("pytest")
    made.__dict__.update(raises=_raises, approx=_Approximately, fail=_fail)
    return made


class _Raises:
    """Fails where its block does not raise an exception of a type.

    Attributes:
        value: the exception; `type`: its class.
    """

    def __init__(self, expected: Any, match: str | None = None) -> None:
        self.expected = expected
        self.match = match
        self.value: BaseException | None = None
        self.type: type[BaseException] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> bool:
        if kind is None:
            raise AssertionError(f"{self.expected!r} was not raised")
        if not issubclass(kind, self.expected):
            return False
        self.value, self.type = error, kind
        if self.match is not None and re.search(self.match, str(error)) is None:
            raise AssertionError(f"{str(error)!r} does not match {self.match!r}")
        return True


def _raises(expected: Any, *call: Any, match: str | None = None, **named: Any) -> _Raises:
    """Return a context manager, or call a function that must raise."""
    raises = _Raises(expected, match)
    if call:
        with raises:
            call[0](*call[1:], **named)
    return raises


def _fail(reason: str = "", **_options: Any) -> None:
    raise AssertionError(reason)


class _Approximately:
    """A number, or numbers in a list, tuple or dict, with a tolerance."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        expected: Any,
        rel: float | None = None,
        abs: float | None = None,  # noqa: A002 - pytest's name
        nan_ok: bool = False,
    ) -> None:
        self.expected = expected
        self.options = rel, abs, nan_ok

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def __eq__(self, got: object) -> bool:
        expected = self.expected
        if isinstance(expected, dict):
            return (
                isinstance(got, dict)
                and got.keys() == expected.keys()
                and all(self._is_close(got[key], value) for key, value in expected.items())
            )
        if isinstance(expected, list | tuple):
            return (
                isinstance(got, list | tuple)
                and len(got) == len(expected)
                and all(map(self._is_close, got, expected))
            )
        return self._is_close(got, expected)

    def __ne__(self, got: object) -> bool:
        return not self == got

    def _is_close(self, got: Any, expected: Any) -> bool:
        if got == expected:
            return True
        numbers = (int, float)
        if not (isinstance(got, numbers) and isinstance(expected, numbers)):
            return False
        relative, absolute, nan_ok = self.options
        if math.isnan(expected):
            return nan_ok and math.isnan(got)
        if math.isinf(expected):
            return False
        least = 0.0 if absolute is not None and relative is None else RELATIVE
        relative = (least if relative is None else relative) * math.fabs(expected)
        return math.fabs(got - expected) <= max(
            relative, ABSOLUTE if absolute is None else absolute
        )
