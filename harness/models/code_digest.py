"""Digest of the user's own code, which tells whether a run goes on with the code that began it."""

import dis
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

PLAIN = (str, bytes, int, float, complex, type(None))
"""Types of bound values that count; others, such as a cache, may change as a run proceeds."""
OWN = "harness"


def code_digest(thing: object) -> dict[str, str] | None:
    """Return the digest of a function's or an object's code, and the Python it holds for.

    It covers the bytecode of a function, of the functions and classes of its module that it names,
    and the plain values bound to it: defaults, a partial's arguments, a closure. Of an object it
    covers the functions of its class. Comments, positions and the values of variables are left out.

    Returns:
        None if the user's Python code is not known, as for a C function.
    """
    found = _Digest()
    found.add(thing)
    if not found.has_code:
        return None
    version = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
    optimized = f" -O{sys.flags.optimize}" if sys.flags.optimize else ""
    return {"sha256": found.hash.hexdigest(), "python": version + optimized}


class _Digest:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.has_code = False
        self._seen: dict[int, object] = {}

    def add(self, thing: object) -> None:
        """Add a function, a class, or the class of an object."""
        if id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        match thing:
            case partial():
                given = cast("partial[Any]", thing)
                self._bound([*enumerate(given.args), *sorted(given.keywords.items())])
                self.add(given.func)
            case MethodType():
                self.add(type(thing.__self__))
                self.add(thing.__func__)
            case FunctionType():
                self._function(thing)
            case type():
                self._class(thing)
            case _:
                self.add(getattr(thing, "__wrapped__", type(thing)))  # such as functools.cache

    def _function(self, function: FunctionType) -> None:
        inner: object = getattr(function, "__wrapped__", None)
        if inner is not None:
            self.add(inner)
            home = getattr(inner, "__globals__", None)
            if home is not function.__globals__:  # the wrapper of a library
                return
        self.has_code = True
        code = function.__code__
        self._text("function", *_words(code))
        self._bound([*enumerate(function.__defaults__ or ())])
        self._bound(sorted((function.__kwdefaults__ or {}).items()))
        self._bound(_closure(function))
        for name in sorted({name for each in _nested(code) for name in each.co_names}):
            used = function.__globals__.get(name)
            is_code = isinstance(used, FunctionType | type) or hasattr(used, "__wrapped__")
            if is_code and getattr(used, "__module__", None) == function.__module__:
                self._text(name)
                self.add(used)

    def _class(self, kind: type) -> None:
        """Add the functions of a class and of its bases in the same module."""
        if kind.__module__.partition(".")[0] == OWN:
            return
        for each in kind.__mro__:
            if each.__module__ != kind.__module__:
                continue
            for name, member in sorted(vars(each).items()):
                held = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(held, FunctionType) or hasattr(held, "__wrapped__"):
                    self._text(name)
                    self.add(held)

    def _bound(self, values: Iterable[tuple[int | str, object]]) -> None:
        for name, value in values:
            if isinstance(value, PLAIN):
                self._text(str(name), repr(value))
            elif isinstance(value, FunctionType | MethodType | partial):
                self._text(str(name))
                self.add(cast("object", value))

    def _text(self, *words: str) -> None:
        for word in words:
            data = word.encode("utf-8", "backslashreplace")
            self.hash.update(b"%d:%s" % (len(data), data))


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


def _words(code: CodeType) -> Iterator[str]:
    """Yield what defines a code object; names of its files and lines do not."""
    for each in _nested(code):
        yield each.co_code.hex()
        yield each.co_exceptiontable.hex()
        yield repr((each.co_flags, each.co_argcount, each.co_kwonlyargcount, each.co_names))
        yield repr((each.co_freevars, each.co_cellvars))
        yield from map(_const, each.co_consts)


def _const(const: object) -> str:
    match const:
        case CodeType():
            return "code"
        case frozenset():  # its order differs from process to process
            return f"set({sorted(map(_const, cast('frozenset[object]', const)))})"
        case tuple():
            return f"tuple({[*map(_const, cast('tuple[object, ...]', const))]})"
        case _:
            return repr(const)


def _closure(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the values of a closure, without those that the function assigns itself."""
    names = function.__code__.co_freevars
    if not names:
        return
    stored = {
        step.argval
        for code in _nested(function.__code__)
        for step in dis.get_instructions(code)
        if step.opname == "STORE_DEREF"
    }
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            value: object = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
        if name not in stored:
            yield name, value
