"""Checkers for problems that accept several answers where the data's tests hold one of them.

A checker takes every answer that the statement calls right, and no other. Each module here is sent
to the sandbox as text, together with the modules here that it imports; beside these it may import
the standard library alone. To add a checker, write a function and a line of a table below.
"""

import ast
from collections.abc import Mapping
from functools import cache
from importlib import resources

from harness.problem import Checker

_IN_ANY_ORDER = ("functions", "in_any_order")
_IN_ANY_CASE = ("spelling", "in_any_case")

_LIVECODEBENCH = {
    "1873_A": _IN_ANY_CASE,
    "1883_B": _IN_ANY_CASE,
    "abc311_c": ("programs", "directed_cycle"),
    "abc314_e": ("tolerances", "printed_within(1e-5)"),
    "abc315_e": ("graphs", "reading_order"),
    "abc315_f": ("tolerances", "printed_within(1e-5)"),
    "abc319_c": ("tolerances", "printed_within(1e-8)"),
    "abc324_f": ("tolerances", "printed_within(1e-9)"),
    "abc326_d": ("programs", "letters_in_a_grid"),
    "abc327_e": ("tolerances", "printed_within(1e-6)"),
    "abc333_e": ("programs", "fewest_potions"),
    "abc335_d": ("arrangements", "spiral"),
    "abc343_a": ("programs", "not_the_sum"),
    "abc343_e": ("programs", "three_cubes"),
    "abc350_e": ("tolerances", "printed_within(1e-6)"),
    "abc362_c": ("programs", "sum_of_zero"),
    "abc363_f": ("arrangements", "palindromic_formula"),
    "abc366_g": ("graphs", "xor_of_neighbours"),
    "abc373_g": ("arrangements", "segments_that_do_not_cross"),
    "abc374_d": ("tolerances", "printed_within(1e-6)"),
    "abc375_b": ("tolerances", "printed_within(1e-6)"),
    "abc385_f": ("tolerances", 'printed_within(1e-9, exactly=("-1",))'),
    "abc392_d": ("tolerances", "printed_within(1e-8)"),
    "abc395_a": _IN_ANY_CASE,
    "abc396_e": ("graphs", "least_xor_sequence"),
    "abc397_d": ("arrangements", "difference_of_cubes"),
    "arc181_c": ("arrangements", "ordered_rows_and_columns"),
    "arc183_d": ("trees", "farthest_leaves"),
    "arc185_c": ("programs", "three_places"),
    "arc188_c": ("graphs", "confused_villagers"),
    "arc190_a": ("arrangements", "cheapest_cover"),
    "arc191_c": ("arrangements", "order_of_a_power"),
    "arc192_a": _IN_ANY_CASE,
    "arc192_b": _IN_ANY_CASE,
    "arc195_c": ("arrangements", "closed_walk_of_pieces"),
}
"""Question id to the module of a checker and the expression that makes it."""

_LEETCODE = {
    "double-modular-exponentiation": _IN_ANY_ORDER,
    "find-the-peaks": _IN_ANY_ORDER,
    "find-words-containing-character": _IN_ANY_ORDER,
    "generate-binary-strings-without-adjacent-zeros": _IN_ANY_ORDER,
    "separate-squares-i": ("tolerances", "returned_within(1e-5)"),
}
"""The same for LeetCode's problems, by slug."""

_TABLES: Mapping[str, tuple[str, str]] = {**_LIVECODEBENCH, **_LEETCODE}


def checker_of(*names: str) -> Checker | None:
    """Return the checker of a problem that goes by any of these ids or slugs, if there is one."""
    known = next((_TABLES[name] for name in names if name in _TABLES), None)
    return _checker(*known) if known else None


def checked_names() -> frozenset[str]:
    """Return the ids and slugs of all problems that have a checker."""
    return frozenset(_TABLES)


@cache
def _checker(module: str, expression: str) -> Checker:
    return Checker(kind="check", code=f"{_source(module)}\n\ncheck = {expression}\n")


def _source(module: str) -> str:
    """The text of a module; in the place of each import of a module here, that module's text."""
    text = (resources.files(__name__) / f"{module}.py").read_text("utf-8")
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{__name__}."):
            imported = (node.module or "").removeprefix(f"{__name__}.")
            lines[node.lineno - 1 : node.end_lineno] = [_source(imported)]
    return "\n".join(lines)
