"""Modules and objects of modules that test code uses under their usual names."""

import ast
import builtins
import importlib
from collections.abc import Iterable
from functools import cache

_ALIASES = {"np": "numpy", "pd": "pandas", "nx": "networkx", "dt": "datetime"}
_MODULES = frozenset(
    {
        *("abc", "array", "base64", "bisect", "calendar", "cmath", "collections", "contextlib"),
        *("copy", "csv", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
        *("hashlib", "heapq", "inspect", "io", "itertools", "json", "math", "numbers", "numpy"),
        *("operator", "os", "pandas", "pathlib", "pickle", "pprint", "pytest", "queue", "random"),
        *("re", "scipy", "statistics", "string", "struct", "sympy", "sys", "tempfile", "textwrap"),
        *("threading", "time", "traceback", "types", "typing", "unittest", "uuid", "warnings"),
    }
)
_ALL_OF = ("math", "collections", "itertools", "heapq", "bisect", "typing", "decimal", "fractions")
_SOME_OF = {
    "copy": ("copy", "deepcopy"),
    "dataclasses": ("dataclass", "field", "asdict", "astuple"),
    "datetime": ("datetime", "date", "timedelta", "timezone"),
    "enum": ("Enum", "IntEnum"),
    "functools": ("reduce", "partial", "cmp_to_key", "lru_cache", "cache", "total_ordering"),
    "numpy": ("allclose", "array_equal"),
    "numpy.testing": ("assert_allclose", "assert_almost_equal", "assert_array_equal"),
    "pytest": ("approx", "raises"),
    "statistics": ("mean", "median", "stdev"),
    "string": ("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation"),
    "unittest": ("TestCase",),
}


def import_of(name: str, trees: Iterable[ast.AST]) -> str:
    """Return the statement that imports a name as usual; empty where no module has it.

    Args:
        name: the name.
        trees: code that uses it: `datetime(2020, 1, 1)` is a class, `datetime.date` a module.
    """
    owner = _owners().get(name)
    if owner and (name not in _MODULES or _is_called(name, trees)):
        return f"from {owner} import {name}"
    if name in _MODULES:
        return f"import {name}"
    return f"import {_ALIASES[name]} as {name}" if name in _ALIASES else ""


@cache
def _owners() -> dict[str, str]:
    """Return the module of each name that is usually imported from one."""
    whole = {module: dir(importlib.import_module(module)) for module in _ALL_OF}
    return {
        name: module
        for module, names in reversed((whole | _SOME_OF).items())
        for name in names
        if not name.startswith("_") and name not in vars(builtins)
    }


def _is_called(name: str, trees: Iterable[ast.AST]) -> bool:
    nodes = (node for tree in trees for node in ast.walk(tree))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    return any(isinstance(each, ast.Name) and each.id == name for each in calls)
