"""Reader of Python source and literals, which are parsed and never executed.

One thread parses at a time. Before CPython 3.11.8, two at once can raise `SystemError: AST
constructor recursion depth mismatch` (python/cpython#106905). The parser keeps the interpreter to
itself anyway, so that the lock costs no time.

The parser's warnings, such as those about escapes in strings, concern the source and not the user.
They are ignored in the parsing thread only. `warnings.catch_warnings` ignores those of all threads,
and two that overlap may leave it so.
"""

import ast
import contextlib
import keyword
import os
import re
import threading
import warnings
from collections.abc import Generator
from typing import Literal, cast

UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
"""What a source raises that is not Python, or is too large or too deeply nested for the parser."""

_KEYWORDS = frozenset((*keyword.kwlist, *keyword.softkwlist))
_TWO_WORDS = re.compile(r"\s*([^\W\d]\w*)[ \t]+([^\W\d]\w*)")
_TRIES = 3  # a thread of the user's program may parse at the same time, without this lock


def reason(error: Exception) -> str:
    """Return why a source cannot be parsed, with the line where it is known."""
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    return str(error) or "nested too deeply"


class _OwnThread:
    """Pattern of a warning filter: it matches every message of the thread that parses."""

    thread = 0

    def match(self, _message: str) -> bool:
        return threading.get_ident() == self.thread


_own_thread = _OwnThread()
_IGNORED = ("ignore", _own_thread, Warning, None, 0)
_lock = threading.RLock()  # reentrant: a finalizer or a signal handler may parse, too
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


def parse(source: str) -> ast.Module:
    """Return the syntax tree of some code. Raises one of `UNREADABLE`."""
    tree = _parse(source, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def parse_expression(source: str) -> ast.expr:
    """Return the syntax tree of an expression. Raises one of `UNREADABLE`."""
    tree = _parse(source, "eval")
    assert isinstance(tree, ast.Expression)
    return tree.body


def parse_or_none(source: str) -> ast.Module | None:
    """Return the syntax tree of some code; None if it cannot be parsed."""
    if _is_prose(source):
        return None
    try:
        return parse(source)
    except UNREADABLE:
        return None


def parse_expression_or_none(source: str) -> ast.expr | None:
    """Return the syntax tree of an expression; None if it cannot be parsed."""
    try:
        return parse_expression(source)
    except UNREADABLE:
        return None


def read_literal(source: str) -> object:
    """Return the value of a literal, as `ast.literal_eval` does.

    Raises:
        SyntaxError, ValueError, MemoryError, RecursionError: as `UNREADABLE`.
        TypeError: it has a key or an item that cannot be hashed.
    """
    return ast.literal_eval(parse_expression(source.lstrip(" \t")))


def _is_prose(source: str) -> bool:
    """Whether a source begins with two words that are not keywords, which no Python does.

    Most answers of models do, and the parser takes 20 times as long to find it.
    """
    words = _TWO_WORDS.match(source)
    return words is not None and _KEYWORDS.isdisjoint(words.groups())


def _parse(source: str, mode: Literal["exec", "eval"]) -> ast.AST:
    with _lock, _silence():
        for _ in range(_TRIES - 1):
            with contextlib.suppress(SystemError):
                return ast.parse(source, mode=mode)
        return ast.parse(source, mode=mode)


@contextlib.contextmanager
def _silence() -> Generator[None]:
    """Ignore the warnings of this thread."""
    before = _own_thread.thread
    filters = cast("list[object]", warnings.filters)
    filters.insert(0, _IGNORED)
    _own_thread.thread = threading.get_ident()
    try:
        yield
    finally:
        _own_thread.thread = before
        with contextlib.suppress(ValueError):  # the program has reset its filters
            filters.remove(_IGNORED)
