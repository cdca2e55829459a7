"""Checkers for LiveCodeBench's problems that take several answers; its tests hold one of them.

A checker takes every answer that the statement calls right, and no other. Layout is read as
the rule `lcb` reads it, so what that rule accepts a checker accepts too. The modules here are
sent to the sandbox as text: each needs the standard library alone. A new one is a function
there and a line of the table.
"""

from functools import cache
from importlib import resources

from harness.problem import Checker

_FUNCTIONS = {
    "abc311_c": ("programs", "directed_cycle"),
    "abc326_d": ("programs", "letters_in_a_grid"),
    "abc333_e": ("programs", "fewest_potions"),
    "abc343_a": ("programs", "not_the_sum"),
    "abc343_e": ("programs", "three_cubes"),
    "abc362_c": ("programs", "sum_of_zero"),
    "arc185_c": ("programs", "three_places"),
    "find-the-peaks": ("functions", "in_any_order"),
    "find-words-containing-character": ("functions", "in_any_order"),
    "generate-binary-strings-without-adjacent-zeros": ("functions", "in_any_order"),
}
"""Question id, or slug for LeetCode's, to the module and the function that judges it."""


def checker_of(*names: str) -> Checker | None:
    """The checker of a LiveCodeBench problem that goes by any of these ids or slugs, if any."""
    known = next((_FUNCTIONS[name] for name in names if name in _FUNCTIONS), None)
    return _checker(*known) if known else None


@cache
def _checker(module: str, function: str) -> Checker:
    source = (resources.files(__name__) / f"{module}.py").read_text("utf-8")
    return Checker(kind="check", code=f"{source}\n\ncheck = {function}\n")
