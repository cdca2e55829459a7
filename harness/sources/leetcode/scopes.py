"""Functions of a module as scopes: their parameters, and the nodes inside them."""

import ast
from collections.abc import Iterator


def parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names of a function's positional parameters, without `self`."""
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    return tuple(names[1:] if names[:1] == ["self"] else names)


def scoped(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.FunctionDef | None]]:
    """Yield the nodes of a tree, each with its function; no classes but `Solution`.

    A function comes before the nodes inside it.
    """
    waiting: list[tuple[ast.AST, ast.FunctionDef | None]] = [(tree, None)]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.ClassDef) and node.name != "Solution":
            continue
        yield node, scope
        inside = node if isinstance(node, ast.FunctionDef) else scope
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]
