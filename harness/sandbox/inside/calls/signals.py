"""Exceptions of a solution that Python would read as a signal in the tests' own process.

`StopIteration` ends a loop over `map()`, `GeneratorExit` closes a generator, `SystemExit` ends the
tests. Where a call of a solution raises one, an error of the same name that is none of these comes
out of it. Tests that expect it by name catch the error as well.
"""

import ast

SIGNALS = (StopIteration, StopAsyncIteration, GeneratorExit, KeyboardInterrupt, SystemExit)
_EXPECTING = frozenset(
    {"assertRaises", "assertRaisesRegex", "raises", "suppress", "isinstance", "issubclass"}
)


class SolutionError(Exception):
    """A failure of the solution that no built-in exception represents."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.solution_text = text


class SignalError(SolutionError):
    """A signal of the solution; it has the attributes of its built-in exception.

    Attributes:
        value: the first argument, as `StopIteration` has it.
        code: the same, as `SystemExit` has it.
    """

    @property
    def value(self) -> object:  # noqa: D102
        return self.args[0] if self.args else None

    code = value


ERRORS: dict[type[BaseException], type[SignalError]] = {
    kind: type(kind.__name__, (SignalError,), {}) for kind in SIGNALS
}
"""The error for each signal."""


def as_error(kind: type[BaseException]) -> type[BaseException]:
    """Return the exception to raise for one of the solution: never a signal."""
    signal = next((each for each in SIGNALS if issubclass(kind, each)), None)
    if signal is not None:
        return ERRORS[signal]
    return kind if issubclass(kind, Exception) else SolutionError


def error_name(kind: type[BaseException]) -> str:
    """Return the name under which the tests see the error for a signal."""
    return f"__{kind.__name__}__"


_NAMES = {kind.__name__: error_name(kind) for kind in SIGNALS}


class Expected(ast.NodeTransformer):
    """Lets test code that expects a signal by name catch the solution's error as well."""

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:  # noqa: D102
        node.type = _with_errors(node.type)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: D102
        called = ast.unparse(node.func).rpartition(".")[2]
        if called in _EXPECTING:
            node.args = [_with_errors(each) or each for each in node.args]
        return self.generic_visit(node)


def _with_errors(kind: ast.expr | None) -> ast.expr | None:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind] if kind is not None else []
    errors = [_NAMES[each.id] for each in kinds if isinstance(each, ast.Name) and each.id in _NAMES]
    if not errors:
        return kind
    return ast.Tuple([*kinds, *(ast.Name(each, ast.Load()) for each in errors)], ast.Load())
