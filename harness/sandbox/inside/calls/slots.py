"""Puts tests into the slots of a script, and a guard around every statement.

In a script of test code each test is a slot, `__slot__(number)`; the tests are passed separately.
A slot may be in a function, at module level, or in a `unittest.TestCase`, as a method.
"""

# pyright: reportUnknownArgumentType=false

import ast
import warnings
from typing import Any

from inside.calls.signals import ERRORS, Expected, error_name

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Assert, ast.Delete)
_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


SENT_AS = {
    "__caught__": tuple,  # `tuple()` catches nothing
    "__skip__": tuple,
    **{error_name(kind): kind for kind in ERRORS},
}
"""What a function of the tests that goes to the solution has in place of the guard's names."""


def parse(source: str, name: str) -> ast.Module:
    """Return the syntax tree of test code; what expects a signal also expects its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, name)
    if any(kind.__name__ in source for kind in ERRORS):
        tree = ast.fix_missing_locations(Expected().visit(tree))
    return tree


class Slots:
    """Inserts the tests into their slots and a guard around every statement."""

    def __init__(self, script: dict[str, Any]) -> None:
        before = "" if script["shared"] else script["before"]  # it runs first
        self.source: str = f"{before}\n{script['source']}"
        self.units: list[str] = script["units"]
        self.cases: list[ast.stmt] = []

    def tree(self) -> ast.Module:
        """Return the syntax tree to run."""
        tree = parse(self.source, "tests.py")
        tree.body = [*self._guarded(tree.body), *self.cases]
        return ast.fix_missing_locations(tree)

    def _guarded(self, body: list[ast.stmt], case: str = "") -> list[ast.stmt]:
        return [each for statement in body for each in self._statement(statement, case)]

    def _statement(self, statement: ast.stmt, case: str) -> list[ast.stmt]:
        slot = _slot(statement)
        if slot is not None:
            return self._method(slot, case) if case else self._unit(slot)
        if isinstance(statement, _DEFINITIONS):
            inner = statement.name if isinstance(statement, ast.ClassDef) else ""
            statement.body = self._guarded(statement.body, inner)
            return [statement]
        if case or not isinstance(statement, _SIMPLE + _COMPOUND) or _is_text(statement):
            return [statement]
        for part in (
            statement,
            *getattr(statement, "handlers", ()),
            *getattr(statement, "cases", ()),
        ):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(part, name, None)
                if isinstance(block, list):
                    setattr(part, name, self._guarded(block))
        return [_guard(statement)]

    def _unit(self, slot: int) -> list[ast.stmt]:
        body = parse(self.units[slot], f"test {slot + 1}").body
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
            body = [*body, *ast.parse(f"{body[0].name}()").body]
        body = [_with_operands(each) for each in body]
        return [_judged(slot, self._guarded(body))]

    def _method(self, slot: int, case: str) -> list[ast.stmt]:
        methods = self._guarded(parse(self.units[slot], f"test {slot + 1}").body)
        names = [each.name for each in methods if isinstance(each, ast.FunctionDef)]
        run = ast.parse(f"__case__({case}, {names[-1]!r})").body
        self.cases.append(_judged(slot, run))
        return methods


def _slot(statement: ast.stmt) -> int | None:
    match statement:
        case ast.Expr(ast.Call(ast.Name(id="__slot__"), [ast.Constant(int(slot))], [])):
            return slot
        case _:
            return None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _guard(statement: ast.stmt) -> ast.stmt:
    """Wrap a statement so that it is skipped if an outcome it needs is missing."""
    guard = ast.parse("try: pass\nexcept __caught__(): __skip__()").body[0]
    assert isinstance(guard, ast.Try)
    guard.body = [statement]
    return guard


def _judged(slot: int, body: list[ast.stmt]) -> ast.stmt:
    """Wrap a test so that it runs only if wanted and its exceptions are recorded."""
    source = f"if __begin__({slot}):\n try: pass\n except __failing__(): __fail__({slot})"
    judged = ast.parse(source).body[0]
    assert isinstance(judged, ast.If)
    attempt = judged.body[0]
    assert isinstance(attempt, ast.Try)
    attempt.body = body
    return judged


def _with_operands(statement: ast.stmt) -> ast.stmt:
    """Make an assertion of a comparison record its operands."""
    match statement:
        case ast.Assert(ast.Compare(left, [comparison], [right])):
            name = ast.Constant(type(comparison).__name__)
            function = ast.Name("__compare__", ast.Load())
            statement.test = ast.Call(function, [name, left, right], [])
        case _:
            pass
    return statement
