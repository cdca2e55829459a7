"""Write tests given as values as code, where JSON cannot express them.

These are tests with Python values, named arguments, expected exceptions, and lists of operations.
"""

import ast
import builtins
import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from harness.languages.python_functions import annotations_of
from harness.python_source import UNREADABLE, parse_expression_or_none, read_literal
from harness.sources.jsonl_row import RowTest

HELPERS = '''
import math as _math
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
inf, nan = _math.inf, _math.nan

def same(got, expected):
    """Equal as JSON has it: a tuple is a list."""
    if isinstance(got, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(got, dict) and isinstance(expected, dict):
        got = {str(key): value for key, value in got.items()}
        expected = {str(key): value for key, value in expected.items()}
        return got.keys() == expected.keys() and all(same(got[k], expected[k]) for k in got)
    return got == expected

def close(got, expected, tolerance):
    """Equal but for a relative or absolute error of each number."""
    if isinstance(got, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(
            close(one, other, tolerance) for one, other in zip(got, expected))
    if isinstance(got, dict) and isinstance(expected, dict):
        return got.keys() == expected.keys() and all(
            close(got[key], expected[key], tolerance) for key in got)
    numbers = (int, float)
    if isinstance(got, numbers) and isinstance(expected, numbers):
        try:
            return _math.isclose(got, expected, rel_tol=tolerance, abs_tol=tolerance)
        except OverflowError:  # an integer beyond every float
            if float("inf") in (abs(got), abs(expected)):
                return False
            got, expected = int(got), int(expected)
            error = Fraction(tolerance) * max(1, abs(got), abs(expected))
            return abs(got - expected) <= error
    return got == expected

class raises:
    """Fails where its block does not raise an exception of a type."""
    def __init__(self, kind):
        self.kind = kind
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        if kind is None:
            raise AssertionError(f"{self.kind.__name__} was not raised")
        return issubclass(kind, self.kind)
'''
CHECK_CLOSE = '''
def check(input, expected, answer):
    """Compare a result within the tolerance that is the test's flag, if it has one."""
    _, flags = input
    if not flags:
        return same(answer, expected) or "not the expected value"
    near = close(answer, expected, float(flags[0]))
    return near or f"not within {flags[0]} of the expected value"
'''
"""Checker of results, which follows `HELPERS`."""

_CALLABLE = frozenset(
    {"set", "frozenset", "float", "bytes", "bytearray", "complex", "range", "Decimal", "Fraction"}
    | {"deque", "Counter", "OrderedDict", "defaultdict"}
)
_NAMES = _CALLABLE | {"inf", "nan", "int", "list", "str", "dict"}
_OF_TYPES = {
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
    **dict.fromkeys(("set", "Set", "MutableSet", "AbstractSet"), "set"),
    **dict.fromkeys(("frozenset", "FrozenSet"), "frozenset"),
    **dict.fromkeys(("dict", "Dict", "Mapping"), "dict"),
    **dict.fromkeys(("list", "List", "Sequence", "Iterable", "Collection"), "list"),
    **dict.fromkeys(("Optional", "Union"), "union"),
}


class CallError(ValueError):
    """A test cannot be written as code.

    Attributes:
        field: the invalid key.
    """

    def __init__(self, field: str, what: str) -> None:
        super().__init__(what)
        self.field = field


@dataclass(frozen=True, slots=True)
class CallWriter:
    """Writes the tests of one function or class as code.

    Attributes:
        entry_point: name of the function or class.
        python: whether values are written in Python, not in JSON.
        is_class: whether it is a class tested by a list of operations.
        parameters: annotations of its parameters.
        result: annotation of its result.
    """

    entry_point: str
    python: bool
    is_class: bool = False
    parameters: tuple[ast.expr | None, ...] = ()
    result: ast.expr | None = None

    def code(self, call: RowTest) -> str:
        """Return the statements of a test. Raises CallError."""
        if self.is_class:
            return self._operations(call)
        arguments = self._arguments(call)
        named = [f"{name}={value!r}" for name, value in call.kwargs.items()]
        asked = f"{self.entry_point}({', '.join([*arguments, *named])})"
        if call.raises is not None:
            return f"with raises({_exception(call.raises)}):\n    {asked}"
        wanted = self._wanted(call)
        if call.argument is None:
            return f"assert {self._equal(asked, wanted, call.tolerance)}"
        if not 0 <= call.argument < len(arguments):
            raise CallError("argument", f"there is no argument {call.argument}; the first is 0")
        listed = ", ".join([*(["*arguments"]), *named])
        equal = self._equal(f"arguments[{call.argument}]", wanted, call.tolerance)
        made = f"arguments = [{', '.join(arguments)}]"
        return f"{made}\n{self.entry_point}({listed})\nassert {equal}"

    def _equal(self, got: str, wanted: str, tolerance: float | None) -> str:
        if tolerance is not None:
            return f"close({got}, {wanted}, {tolerance!r})"
        return f"{got} == {wanted}" if self.python else f"same({got}, {wanted})"

    def _arguments(self, call: RowTest) -> list[str]:
        if not self.python:
            values = [_json(line, "input") for line in call.input.split("\n") if line.strip()]
            padded = [*self.parameters, *[None] * len(values)]
            return [_typed(value, kind) for value, kind in zip(values, padded, strict=False)]
        lines = [line for line in call.input.split("\n") if line.strip()]
        for text in (call.input, ", ".join(line.strip().rstrip(",") for line in lines)):
            parsed = parse_expression_or_none(f"_({text}\n)")
            if isinstance(parsed, ast.Call) and ast.unparse(parsed.func) == "_":
                for each in (*parsed.args, *(key.value for key in parsed.keywords)):
                    _check_literal(each, "input")
                return [ast.unparse(each) for each in (*parsed.args, *parsed.keywords)]
        raise CallError("input", "not the arguments of a call, in Python")

    def _wanted(self, call: RowTest) -> str:
        assert call.output is not None
        if not self.python:
            return _typed(_json(call.output, "output"), self.result)
        parsed = parse_expression_or_none(call.output.strip())
        if parsed is None:
            raise CallError("output", "not a value in Python")
        _check_literal(parsed, "output")
        return ast.unparse(parsed)

    def _operations(self, call: RowTest) -> str:
        """Write LeetCode's format: names of methods, their arguments, and each one's result."""
        if self.python:
            parts: list[Any] = [
                _literal(call.input, "input"),
                _literal(call.output or "", "output"),
            ]
            given = [*cast("tuple[Any, ...]", parts[0])] if isinstance(parts[0], tuple) else []
        else:
            given = [_json(line, "input") for line in call.input.split("\n") if line.strip()]
            parts = [given, _json(call.output or "null", "output")]
        wanted = parts[1]
        if len(given) != 2 or not all(isinstance(each, list) for each in (*given, wanted)):  # noqa: PLR2004
            what = "for a class give two lists, names of operations and their arguments, and a list"
            raise CallError("input", f"{what} of results as the output")
        names, arguments = cast("list[list[Any]]", given)
        if not len(names) == len(arguments) == len(wanted) or not names:
            what = f"{len(names)} operations, {len(arguments)} lists of arguments"
            raise CallError("input", f"{what} and {len(wanted)} results do not fit")
        if names[0] != self.entry_point:
            raise CallError("input", f"the first operation is not {self.entry_point!r}")
        lines: list[str] = []
        for name, values, result in zip(names, arguments, wanted, strict=True):
            if not isinstance(name, str) or not name.isidentifier() or not isinstance(values, list):
                what = f"{name!r:.60} is not an operation with a list of arguments"
                raise CallError("input", what)
            asked = f"{name}({', '.join(map(repr, cast('list[Any]', values)))})"
            if not lines:
                lines.append(f"thing = {asked}")
            else:
                equal = self._equal(f"thing.{asked}", repr(result), call.tolerance)
                lines.append(f"assert {equal}")
        return "\n".join(lines)


def typed_calls(starter_code: str, entry_point: str) -> CallWriter | None:
    """Return a writer if the starter code's annotations need values that JSON lacks."""
    annotations = annotations_of(starter_code, entry_point)
    if annotations is None:
        return None
    parameters, result = annotations
    names = {
        name
        for each in (*parameters, result)
        if each is not None
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
        for name in [name.id]
    }
    kinds = {_OF_TYPES.get(name, name) for name in names}
    special = kinds & {"tuple", "set", "frozenset", "bytes", "complex"}
    if names & {"ListNode", "TreeNode"} or not (special or _has_int_keys((*parameters, result))):
        return None
    return CallWriter(entry_point, python=False, parameters=tuple(parameters), result=result)


def _has_int_keys(annotations: Sequence[ast.expr | None]) -> bool:
    return any(
        isinstance(node, ast.Subscript)
        and _kind(node) == "dict"
        and isinstance(node.slice, ast.Tuple)
        and ast.unparse(node.slice.elts[0]) != "str"
        for each in annotations
        if each is not None
        for node in ast.walk(each)
    )


def _kind(annotation: ast.expr) -> str:
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = ast.unparse(base).rpartition(".")[2]
    return _OF_TYPES.get(name, name)


def _typed(value: Any, annotation: ast.expr | None) -> str:
    """Return a JSON value as Python code of the annotated type."""
    if annotation is None or value is None:
        return repr(value)
    inner = annotation.slice if isinstance(annotation, ast.Subscript) else None
    items: list[ast.expr] = [inner] if inner else []
    if isinstance(inner, ast.Tuple):
        items = inner.elts
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        items = [annotation.left, annotation.right]
    if isinstance(annotation, ast.BinOp) or _kind(annotation) == "union":
        chosen = next((each for each in items if ast.unparse(each) != "None"), None)
        return _typed(value, chosen)
    kind = _kind(annotation)
    if isinstance(value, list):
        return _typed_list(cast("list[Any]", value), kind, items)
    if isinstance(value, dict) and kind == "dict":
        key, content = items if len(items) == 2 else (None, None)  # noqa: PLR2004
        named = cast("dict[str, Any]", value)
        pairs = (f"{_key(k, key)}: {_typed(v, content)}" for k, v in named.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, str) and kind == "bytes":
        return repr(value.encode())
    return repr(cast("object", value))


def _typed_list(value: list[Any], kind: str, items: list[ast.expr]) -> str:
    """Return a JSON list as code of an annotated type; `items` are its type arguments."""
    if kind == "tuple":
        open_ended = items and ast.unparse(items[-1]) in {"...", "Ellipsis"}
        fixed = len(items) == len(value) and not open_ended
        kinds = items if fixed else (items[:1] or [None]) * len(value)
        made = [_typed(each, kind) for each, kind in zip(value, kinds, strict=True)]
        return f"({', '.join(made)}{',' * (len(made) == 1)})"
    if kind == "complex" and len(value) == 2:  # noqa: PLR2004 - real and imaginary part
        return f"complex({value[0]!r}, {value[1]!r})"
    made = ", ".join(_typed(each, items[0] if items else None) for each in value)
    return f"{kind}([{made}])" if kind in {"set", "frozenset"} else f"[{made}]"


def _key(text: str, annotation: ast.expr | None) -> str:
    """Return a key of a JSON object, which is a string, as code of the annotated type."""
    kind = "" if annotation is None else _kind(annotation)
    if kind in {"int", "float"}:
        try:
            return repr(int(text) if kind == "int" else float(text))
        except ValueError:
            return repr(text)
    if kind == "tuple":
        return _typed(_json(text, "input"), annotation)
    return repr(text)


def _json(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise CallError(field, f"not a JSON value: {text!r:.60}") from None


def _literal(text: str, field: str) -> Any:
    try:
        return read_literal(text)
    except (*UNREADABLE, TypeError):
        raise CallError(field, f"not a Python literal: {text!r:.60}") from None


def _check_literal(value: ast.expr, field: str) -> None:
    """Check that a value is written out, without names or calls except types of values."""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id not in _NAMES:
            near = difflib.get_close_matches(node.id, _NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise CallError(field, f"the name {node.id!r:.60} is not a value{hint}")
        if isinstance(node, ast.Attribute | ast.Lambda | ast.NamedExpr | ast.Await):
            raise CallError(field, f"{ast.unparse(node)!r:.60} is not a value")


def _exception(name: str) -> str:
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return name
    known = [each for each in dir(builtins) if each.endswith(("Error", "Exception"))]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
    if near:
        raise CallError("raises", f"there is no {name!r:.60}; did you mean {near[0]!r}?")
    if name.isidentifier() and name.endswith(("Error", "Exception")):
        return name
    what = f"{name!r:.60} is not an exception of Python; one of the solution's own ends in Error"
    raise CallError("raises", f"{what} or Exception")
