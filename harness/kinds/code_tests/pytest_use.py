"""Which names of pytest test code uses; `inside.calls.pytest_names` has a stand-in for a few."""

import ast

OF_PYTEST = frozenset({"raises", "approx", "fail"})
_STARTS = frozenset({"main"})


def unknown_names(tree: ast.Module) -> list[str]:
    """Return the names of pytest that some test code uses and the stand-in lacks, sorted."""
    nodes = [*ast.walk(tree)]
    used: set[str] = set()
    modules = {"pytest"}
    for node in nodes:
        match node:
            case ast.ImportFrom("pytest", aliases):
                used |= {each.name for each in aliases}
            case ast.Import(aliases):
                modules |= {
                    each.asname for each in aliases if each.name == "pytest" and each.asname
                }
            case _:
                pass
    for node in nodes:
        match node:
            case ast.Attribute(ast.Name(module), name) if module in modules:
                used.add(name)
            case _:
                pass
    return sorted(used - OF_PYTEST - _STARTS)
