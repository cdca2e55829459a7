"""The filters that a template may use: none makes much out of little unmeasured."""

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

MOST_WORK = 100_000_000  # characters, and steps at STEP each
STEP = 1_000
LOOK = 100 * STEP  # the work between two looks at the clock
ITEM = 50  # of a list, beside what it is
MOST_SECONDS = 20.0  # of CPU


class TemplateLimitError(Exception):
    """A template wants to do more than any prompt needs."""


class _Meter:
    def __init__(self) -> None:
        self.left = MOST_WORK
        self.look = MOST_WORK - LOOK
        self.until = time.thread_time() + MOST_SECONDS


_METER: ContextVar[_Meter] = ContextVar("_METER")


@contextmanager
def metered() -> Generator[None]:
    """What is spent within is one template's work."""
    token = _METER.set(_Meter())
    try:
        yield
    finally:
        _METER.reset(token)


def spend(work: int) -> None:
    """Count work that is done, or is about to be.

    Raises:
        TooMuchError: there is none left to spend.
    """
    meter = _METER.get()
    meter.left -= work
    if meter.left < meter.look:  # the clock is slow to ask
        meter.look = meter.left - LOOK
        if meter.left < 0 or time.thread_time() > meter.until:
            raise TemplateLimitError("it does more work than a prompt may take")


def spent(value: Any) -> Any:
    """A value that was made, counted. What a template was given is not: it made none of it.

    Raises:
        TooMuchError: it is too much.
    """
    if not isinstance(value, BaseModel | Namespace):
        spend(weight(value))
    return value


def weight(value: Any) -> int:
    """About how many characters a value would be as text; a lazy one is counted as it comes.

    Raises:
        TooMuchError: it is a namespace, whose contents nobody has counted, or more than may be made
            in all.
    """
    if isinstance(value, str):
        return len(value)
    # No recursion, as what a template nests may be deeper than Python's stack.
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
            raise TemplateLimitError("a namespace is no text, and goes into no list")
        if total > MOST_WORK:
            raise TemplateLimitError("it does more work than a prompt may take")
    return total


LONGEST_EXAMPLE = 2_000

# Of jinja2's own, those whose result is not much longer than what they are given.
_KNOWN = """
    abs capitalize count d default dictsort first float int items last length list lower map max min
    reject rejectattr reverse select selectattr sort string sum title trim truncate unique upper
    wordcount
"""


def joined(separator: Any, items: Iterable[Any]) -> str:
    """As `str.join`, with each piece counted before the whole is made."""
    texts: list[str] = []
    for item in items:
        texts.append(str(item))
        spend(len(texts[-1]) + len(separator))
    return str(separator).join(texts)


def replaced(text: Any, old: str, new: str, count: int = -1) -> str:
    """As `str.replace`, measured beforehand."""
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
    """The filter, with what it is given looked at and what it makes counted."""

    @wraps(function)  # takes over the mark of jinja2's that says what goes first
    def weighed(*args: Any, **kwargs: Any) -> Any:
        spend(STEP)
        for value in (*args, *kwargs.values()):
            if not isinstance(value, Context):  # which is a mapping, too
                weight(value)
        return spent(function(*args, **kwargs))

    return weighed


@pass_context
def written(context: Context, value: Any) -> Any:
    """What a template writes, counted; the context keeps jinja2 from doing it beforehand."""
    del context
    spend(weight(value))
    return value


@pass_context
def _steps(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    del context
    for item in items:
        spend(STEP)
        yield item


@pass_context
def _held(context: Context, value: Any) -> Any:
    del context
    return spent(value)


@pass_context
def _concatenated(context: Context, values: list[Any]) -> str:
    del context
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
STEPS, HELD, CONCATENATED = " steps", " held", " concatenated"  # no template can write a space
OF_NODES: dict[str, Callable[..., Any]] = {
    STEPS: _steps,
    HELD: _held,
    CONCATENATED: _concatenated,
}
"""Put around loops, lists and concatenations by `harness.agent.templates.template`."""
