"""Statements of test code that start its tests; the harness starts them itself."""

import ast

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
_MAINS = {"unittest.main", "pytest.main"}


def is_start(statement: ast.stmt) -> bool:
    """Return whether a statement starts the tests."""
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
        case ast.Expr(ast.Call(ast.Name("check"))):
            return True
        case ast.Expr(ast.Call(function)):
            return ast.unparse(function) in _MAINS
        case _:
            return False


def drop_starts(tree: ast.Module, tests: set[str]) -> None:
    """Remove the statements that start the tests by name."""
    names = set(tests)
    kept: list[ast.stmt] = []
    for statement in tree.body:
        nodes = () if isinstance(statement, _DEFINITIONS) else tuple(ast.walk(statement))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        if names.isdisjoint(used):
            kept.append(statement)
        else:
            names |= {n.id for n in nodes if isinstance(n, ast.Name) and type(n.ctx) is ast.Store}
    tree.body = kept
