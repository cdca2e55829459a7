"""Filters available to templates; the work and output of each is metered."""

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, cast

from jinja2 import Environment, pass_context, pass_environment
from jinja2.filters import FILTERS, do_indent, make_attrgetter
from jinja2.runtime import Context
from jinja2.utils import Namespace
from pydantic import BaseModel

from harness.text import shorten

MOST_WORK = 100_000_000  # characters; a step counts as STEP of them
STEP = 1_000
LOOK = 100 * STEP  # work between two checks of the clock
ITEM = 50  # size of a list item, in addition to its value
MOST_SECONDS = 20.0  # of CPU


class TemplateLimitError(Exception):
    """A template exceeds a limit that no prompt needs to reach."""


class _Meter:
    def __init__(self) -> None:
        self.left = MOST_WORK
        self.look = MOST_WORK - LOOK
        self.until = time.thread_time() + MOST_SECONDS


_METER: ContextVar[_Meter] = ContextVar("_METER")


@contextmanager
def metered() -> Generator[None]:
    """Meter the work done within this context as one template's."""
    token = _METER.set(_Meter())
    try:
        yield
    finally:
        _METER.reset(token)


def spend(work: int) -> None:
    """Count work that was done or is about to be done.

    Raises:
        TemplateLimitError: the limit is exceeded.
    """
    meter = _METER.get()
    meter.left -= work
    if meter.left < meter.look:  # reading the clock is slow
        meter.look = meter.left - LOOK
        if meter.left < 0 or time.thread_time() > meter.until:
            raise TemplateLimitError("it does more work than a prompt may take")


def spent(value: Any) -> Any:
    """Count a value made by the template; values passed to it are not counted.

    Raises:
        TemplateLimitError: the limit is exceeded.
    """
    if not isinstance(value, BaseModel | Namespace):
        spend(weight(value))
    return value


def weight(value: Any) -> int:
    """Return a value's approximate length as text; lazy values count when iterated.

    Raises:
        TemplateLimitError: it is a namespace, whose contents are not counted, or exceeds the limit
            by itself.
    """
    if isinstance(value, str):
        return len(value)
    # Not recursive, since a template's nesting may be deeper than Python's stack.
    total, waiting = -ITEM, [value]
    while waiting:
        total += ITEM
        one = waiting.pop()
        if isinstance(one, str | bytes | range):
            total += len(one)
        elif isinstance(one, Mapping):
            waiting += cast("Mapping[Any, Any]", one).items()
        elif isinstance(one, Sequence | AbstractSet):
            waiting += cast("Iterable[Any]", one)
        elif isinstance(one, BaseModel):
            waiting += [getattr(one, name) for name in type(one).model_fields]
        elif isinstance(one, Namespace):
            raise TemplateLimitError("a namespace can neither be printed nor put into a list")
        if total > MOST_WORK:
            raise TemplateLimitError("it does more work than a prompt may take")
    return total


LONGEST_EXAMPLE = 2_000

# Filters of jinja2 whose result is not much longer than their input.
_KNOWN = """
    abs capitalize count d default dictsort first float int items last length list lower map max min
    reject rejectattr reverse select selectattr sort string sum title trim truncate unique upper
    wordcount
"""


def joined(separator: Any, items: Iterable[Any]) -> str:
    """Join strings like `str.join`, counting each piece first."""
    texts: list[str] = []
    for item in items:
        texts.append(str(item))
        spend(len(texts[-1]) + len(separator))
    return str(separator).join(texts)


def replaced(text: Any, old: str, new: str, count: int = -1) -> str:
    """Replace like `str.replace`, counting the work first."""
    text = str(text)
    spend(text.count(old) * len(new))
    return text.replace(old, new, count)


@pass_environment
def _join(
    environment: Environment, items: Iterable[Any], d: str = "", attribute: str | None = None
) -> str:
    if attribute is not None:
        items = map(make_attrgetter(environment, attribute), items)
    return joined(d, items)


def _indent(text: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    text = str(text)
    spend((text.count("\n") + 1) * (width if isinstance(width, int) else len(width)))
    return do_indent(text, width, first, blank)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shorten(text: str, most: int = LONGEST_EXAMPLE) -> str:
    return shorten(text, most)


def _weighed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter to check its arguments and count its result."""

    @wraps(function)  # also copies jinja2's mark for the first argument
    def weighed(*args: Any, **kwargs: Any) -> Any:
        spend(STEP)
        for value in (*args, *kwargs.values()):
            if not isinstance(value, Context):  # which is a mapping, too
                weight(value)
        return spent(function(*args, **kwargs))

    return weighed


def _in_context(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """Make a filter that jinja2 does not apply earlier, to constants."""

    @pass_context
    def applied(context: Context, value: Any) -> Any:
        del context
        return function(value)

    return applied


@_in_context
def written(value: Any) -> Any:
    """Count output of a template."""
    spend(weight(value))
    return value


@_in_context
def _steps(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        spend(STEP)
        yield item


@_in_context
def _concatenated(values: list[Any]) -> str:
    spend(weight(values))
    return "".join(map(str, values))


_OWN: dict[str, Callable[..., Any]] = {
    "join": _join,
    "replace": replaced,
    "indent": _indent,
    "tojson": _to_json,
}
OF_TEMPLATES: dict[str, Callable[..., Any]] = {
    **{
        name: _weighed(each)
        for name, each in ({n: FILTERS[n] for n in _KNOWN.split()} | _OWN).items()
    },
    "shorten": _shorten,
}
STEPS, HELD, CONCATENATED = " steps", " held", " concatenated"  # templates cannot use a space
OF_NODES: dict[str, Callable[..., Any]] = {
    STEPS: _steps,
    HELD: _in_context(spent),
    CONCATENATED: _concatenated,
}
"""Applied to loops, lists and concatenations by `harness.agent.templates`."""
