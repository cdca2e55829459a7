"""Jinja2 templates in a sandbox, with limits on their work.

Templates are not trusted. Jinja2's own sandbox keeps them from Python's internals. This module
adds limits on their work (`harness.agent.templates.filters`), and checks operations that could
make large values at once in advance: powers, repetition, widths.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cache
from types import TracebackType
from typing import Any, cast

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Namespace
from pydantic import BaseModel

from harness.agent.templates import filters
from harness.agent.templates.filters import STEP, TemplateLimitError, metered, spend, spent, weight
from harness.text import shorten

LONGEST_TEMPLATE = 1_000_000
LONGEST_TEXT = 1_000_000
LARGEST_POWER = 64
LARGEST_BASE = 10**9
LARGEST_NUMBER = 10**1_000
_LONGEST_WORDS = 500

_METHODS_OF_TEXT = """
    capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit islower
    isnumeric isspace isupper join lower lstrip name partition removeprefix removesuffix replace
    rfind rindex rpartition rsplit rstrip split splitlines startswith strip swapcase title upper
    value
"""
_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (str, frozenset(_METHODS_OF_TEXT.split())),
    (date, frozenset({"isoformat", "year", "month", "day"})),
    (Mapping, frozenset({"get", "items", "keys", "values"})),
    (Sequence, frozenset({"count", "index"})),
    (int, frozenset()),
    (float, frozenset()),
)
_GROWING: dict[str, Callable[..., str]] = {"join": filters.joined, "replace": filters.replaced}
_OF_THE_CALL = ("_loop_vars", "_block_vars")  # added by jinja2 to describe the call's location
_FIRST_LINE = re.compile(r"\{#-?[ \t]*([^\n]*?)[ \t]*-?#\}[ \t]*(?:\n|\Z)")


class TemplateFaultError(Exception):
    """A template is not valid, or failed.

    Attributes:
        line: line number; None if jinja2 does not know it.
        words: description of the error, in one line.
    """

    def __init__(self, line: int | None, words: str) -> None:
        self.line = line
        self.words = words
        super().__init__(words)


def render(source: str, file: str, values: Mapping[str, Any]) -> str:
    """Render a template; surrounding whitespace is removed.

    Args:
        source: the template.
        file: name of the template.
        values: available values by name.

    Raises:
        TemplateFaultError: it is not valid, uses an unknown name or a forbidden attribute, fails,
            exceeds a limit, or makes more than `LONGEST_TEXT` characters.
    """
    if is_constant(source):
        return _constant(source, file)
    return _rendered(source, file, values)


def is_constant(source: str) -> bool:
    """Whether a template makes the same text for all values."""
    return "{{" not in source and "{%" not in source


@cache
def _constant(source: str, file: str) -> str:
    """Render a template that uses no values, such as most system prompts, only once."""
    return _rendered(source, file, {})


def _rendered(source: str, file: str, values: Mapping[str, Any]) -> str:
    length, pieces = 0, list[str]()
    with _one_fault(file), metered():
        for piece in _compiled(source, file).generate(values):
            length += len(piece)
            if length > LONGEST_TEXT:
                raise TemplateLimitError(f"it makes more than {LONGEST_TEXT:,} characters")
            pieces.append(piece)
    return "".join(pieces).strip()


def parse(source: str, file: str) -> nodes.Template:
    """Return the syntax tree of a valid template.

    Raises:
        TemplateFaultError: the template is not valid.
    """
    with _one_fault(file), metered():
        _compiled(source, file)
        return _environment().parse(source)


def description(source: str) -> str:
    """Return the comment in a template's first line; empty if there is none."""
    found = _FIRST_LINE.match(source)
    return found.group(1) if found else ""


@contextmanager
def _one_fault(file: str) -> Generator[None]:
    """Convert every exception of jinja2 to this module's error."""
    try:
        yield
    except TemplateSyntaxError as error:
        raise TemplateFaultError(error.lineno, _words(error.message)) from error
    except Exception as error:
        raise TemplateFaultError(
            _line(error.__traceback__, file), _words(str(error) or type(error).__name__)
        ) from error


def _words(message: str | None) -> str:
    return shorten(" ".join((message or "").split()), _LONGEST_WORDS)


def _line(traceback: TracebackType | None, file: str) -> int | None:
    """Return the template's innermost line: jinja2 maps Python's lines to its own."""
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


@cache
def _compiled(source: str, file: str) -> Template:
    if len(source) > LONGEST_TEMPLATE:
        raise TemplateLimitError(f"it is longer than {LONGEST_TEMPLATE:,} characters")
    environment = _environment()
    tree = environment.parse(source)
    _count(tree)
    tree.set_environment(environment)
    code = environment.compile(tree, filename=file)
    return Template.from_code(environment, code, environment.globals)


def _count(node: nodes.Node) -> None:
    """Make all texts, loops, lists and concatenations in a node count when evaluated."""
    for name, value in node.iter_fields():
        if isinstance(value, nodes.Node):
            setattr(node, name, _counted(value))
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            items[:] = [_counted(each) if isinstance(each, nodes.Node) else each for each in items]


def _counted(node: nodes.Node) -> nodes.Node:
    _count(node)
    match node:
        case nodes.TemplateData():  # as a constant it is counted when written
            return nodes.Const(node.data, lineno=node.lineno)
        case nodes.For():
            if node.recursive:
                raise TemplateSyntaxError("a loop may not be recursive", node.lineno)
            node.iter = _through(filters.STEPS, cast("nodes.Expr", node.iter))
        case nodes.Concat():
            return _through(filters.CONCATENATED, nodes.List(node.nodes, lineno=node.lineno))
        case nodes.List() | nodes.Dict():
            return _through(filters.HELD, node)
        case nodes.Tuple() if node.ctx == "load":
            return _through(filters.HELD, node)
        case _:
            pass
    return node


def _through(name: str, node: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


@cache
def _environment() -> "_Bounded":
    environment = _Bounded(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        finalize=filters.written,
    )
    environment.filters = {**filters.OF_TEMPLATES, **filters.OF_NODES}
    names = cast("dict[str, Any]", environment.globals)
    names.clear()
    names.update(range=safe_range, dict=dict, namespace=Namespace)
    return environment


class _Bounded(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, BaseModel):
            of = type(obj)
            return attr in of.model_fields or (
                not attr.startswith("_") and isinstance(getattr(of, attr, None), property)
            )
        for kind, known in _METHODS:
            if isinstance(obj, kind):
                return attr in known
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        del value  # not safe: a format may request any width
        return None

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            raise SecurityError("% is for numbers; put texts together with ~")
        if operator == "**":
            _bounded(left, LARGEST_BASE)
            _bounded(right, LARGEST_POWER)
        if operator == "*":
            for some, times in ((left, right), (right, left)):
                if isinstance(times, int) and not isinstance(some, int | float):
                    spend(weight(some) * max(times, 0))
        return _bounded(spent(super().call_binop(context, operator, left, right)), LARGEST_NUMBER)

    # jinja2 names the first two parameters so that templates can use the names.
    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        spend(STEP)
        text = getattr(obj, "__self__", None)
        if isinstance(text, str) and obj.__name__ in _GROWING:
            named = {name: each for name, each in kwargs.items() if name not in _OF_THE_CALL}
            return spent(_GROWING[obj.__name__](text, *args, **named))
        return spent(super().call(context, obj, *args, **kwargs))


def _bounded(value: Any, most: int) -> Any:
    if isinstance(value, int) and abs(value) > most:
        raise TemplateLimitError("it makes a number too large")
    return value
