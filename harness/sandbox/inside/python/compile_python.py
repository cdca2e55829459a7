"""Compile a solution in Python, also a script with a `return` outside of functions.

The graders of LiveCodeBench and APPS put a script into a function, so that a `return` outside of
every function ends it. In Python it is a syntax error. If that is the only one, the script is put
into a function here too, and everything it binds is declared global, so that it otherwise runs as a
script.
"""

import ast
import inspect
from types import CodeType

RETURN_OUTSIDE = "'return' outside function"
BODY = "<module>"  # as tracebacks name a script's own code
NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def compile_solution(source: str, file_name: str, *, is_script: bool) -> CodeType:
    """Compile a solution.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError, OverflowError: it does not compile.
    """
    try:
        return compile(source, file_name, "exec", dont_inherit=True)
    except SyntaxError as error:
        if not is_script or error.msg != RETURN_OUTSIDE:
            raise
        try:
            return _compile_in_function(source, file_name)
        except SyntaxError:
            raise error from None


def _compile_in_function(source: str, file_name: str) -> CodeType:
    statements = ast.parse(source).body
    outside = [each for each in statements if _belongs_outside(each)]
    inside = [_InFunction().visit(each) for each in statements if each not in outside]
    module = ast.parse("def body(): ...\nbody()")
    function, call = module.body
    assert isinstance(function, ast.FunctionDef)
    function.name = call.value.func.id = BODY  # type: ignore[attr-defined]
    function.body = inside
    module.body[:0] = outside
    local = _locals_of(compile(module, file_name, "exec", dont_inherit=True))
    if local:
        function.body.insert(0, ast.copy_location(ast.Global(local), function.body[0]))
    return compile(module, file_name, "exec", dont_inherit=True)


def _belongs_outside(node: ast.stmt) -> bool:
    """Whether a function must not contain a statement: a star or `__future__` import."""
    return isinstance(node, ast.ImportFrom) and (
        node.module == "__future__" or node.names[0].name == "*"
    )


def _locals_of(code: CodeType) -> list[str]:
    """Return the names the function binds.

    Raises:
        SyntaxError: it yields or awaits, which scripts do not.
    """
    (body,) = (each for each in code.co_consts if getattr(each, "co_name", "") == BODY)
    if body.co_flags & NOT_PLAIN:
        raise SyntaxError(RETURN_OUTSIDE)
    return [*body.co_varnames, *body.co_cellvars]


class _InFunction(ast.NodeTransformer):
    """Removes what conflicts with global declarations; skips nested functions."""

    def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # noqa: N815

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        plain = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(plain, node)
