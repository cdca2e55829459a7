"""Which statements of test code assert something, directly or through a helper."""

import ast

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_PREPARING = _DEFINITIONS | ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom


def is_test(statement: ast.stmt, asserting: set[str]) -> bool:
    """Return whether a statement is a test.

    Args:
        statement: the statement.
        asserting: names of helpers that assert, see `asserting_names`.
    """
    if isinstance(statement, _PREPARING):
        return False
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant):
        return not statement.test.value  # `assert True` tests nothing
    return asserts_something(statement, asserting)


def asserts_something(code: ast.AST, asserting: set[str]) -> bool:
    """Return whether any part of some code asserts or raises."""
    return any(_asserts(node, asserting) for node in ast.walk(code))


def asserting_names(tree: ast.Module) -> set[str]:
    """Return the names of functions, methods and other names of them that assert something."""
    nodes = [each for each in ast.walk(tree) if isinstance(each, _DEFINITIONS | ast.Assign)]
    defined = {each.name for each in nodes if not isinstance(each, ast.Assign)}
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(names=aliases):
                names |= {e.asname or e.name for e in aliases if _is_asserting_name(e.name)}
            case ast.Name(name) if _is_asserting_name(name) and name not in defined:
                names.add(name)
            case _:
                pass
    while True:
        more = {name for node in nodes for name in _names_of(node, names)} - names
        if not more:
            return names
        names |= more


def _names_of(node: ast.AST, known: set[str]) -> list[str]:
    """Return the names that a definition or assignment gives to something that asserts."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name] if any(is_test(inner, known) for inner in node.body) else []
        case ast.ClassDef(name=name, body=body):  # an object of it is called, as a function is
            calls = [e for e in body if isinstance(e, ast.FunctionDef) and e.name == "__call__"]
            return [name] if any(_names_of(each, known) for each in calls) else []
        case ast.Assign(targets, value) if _is_asserting(value, known):
            return [each.id for each in targets if isinstance(each, ast.Name)]
        case _:
            return []


def _is_asserting(value: ast.expr, known: set[str]) -> bool:
    match value:
        case ast.Name(name):
            return name in known
        case ast.Attribute(attr=name):
            return name in known or _is_asserting_name(name)
        case ast.Lambda(body=body):
            return asserts_something(body, known)
        case ast.Call(ast.Name(name)):
            return name in known  # an object of a class of the tests
        case _:
            return False


def _is_asserting_name(name: str) -> bool:
    return name.startswith("assert") or name == "raises"


def _asserts(node: ast.AST, asserting: set[str]) -> bool:
    match node:
        case ast.Assert() | ast.Raise():
            return True
        case ast.Call(ast.Name(name)):
            return name in asserting
        case ast.Call(ast.Attribute(attr=name)):
            return name in asserting or _is_asserting_name(name)
        case _:
            return False
