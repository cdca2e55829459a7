"""Starter code and types of a problem's function, in a language that is compiled.

A row may have starter code in the language. Else it follows from the annotations of the Python
starter code: `int` is a number of 64 bits, `float` a double, `list` a vector. What has no such form
is refused: values that may be missing, mappings, tuples, linked lists and trees.
"""

import ast
from functools import lru_cache

from harness.languages import PYTHON
from harness.languages.functions import MOST_DEPTH, Function, NoFunctionError, Scalar, ValueType
from harness.languages.known import language
from harness.languages.language import FunctionForm
from harness.languages.python_functions import defined, parameters_of
from harness.problem import Codec, Problem, ProblemView

SCALARS: dict[str, Scalar] = {"int": "long", "float": "double", "str": "string", "bool": "bool"}
LISTS = frozenset({"List", "list"})


def function_of(problem: Problem | ProblemView, name: str) -> Function:
    """Return the function that a solution of a problem in a language defines.

    Raises:
        NoFunctionError: there is none; the message says why.
    """
    starter = dict(problem.starters).get(name, "")
    in_place = problem.signature.result is Codec.FIRST_ARGUMENT
    return _function(problem.starter_code, starter, problem.entry_point or "", in_place, name)


def starter_in(problem: Problem | ProblemView, name: str) -> str:
    """Return a problem's starter code in a language; empty for a program. Raises as above."""
    if problem.entry_point is None or name == PYTHON:
        return problem.starter_code if name == PYTHON else ""
    given = dict(problem.starters).get(name, "")
    return given or _form(name).starter_of(function_of(problem, name))


def view_in(problem: Problem, name: str) -> ProblemView:
    """Return what a model may see of a problem, with the starter code in a language."""
    view = problem.view()
    if name == PYTHON or problem.entry_point is None:
        return view
    starter = starter_in(problem, name)
    return view.model_copy(update={"starter_code": starter, "starters": ((name, starter),)})


def _form(name: str) -> FunctionForm:
    own = language(name)
    if own.functions is None:
        raise NoFunctionError(f"functions in {own.title} are not called")
    return own.functions


@lru_cache(maxsize=256)
def _function(
    python: str,
    starter: str,
    entry_point: str,
    in_place: bool,
    name: str,
) -> Function:
    form = _form(name)
    if starter:
        function = form.read_starter(starter, entry_point)
    else:
        function = _of_python(python, entry_point)
        form.starter_of(function)  # which may refuse its name
    if function.owner not in {"", "Solution"}:
        raise NoFunctionError(f"its function is a method of {function.owner!r:.60}")
    if function.result is None and not (in_place and function.parameters):
        what = "nothing says that its first argument is changed in place"
        raise NoFunctionError(f"it returns nothing, and {what}")
    return function


def _of_python(code: str, entry_point: str) -> Function:
    definition = defined(code, entry_point)
    if definition is None:
        raise NoFunctionError("it has no starter code with types")
    owner, node = definition
    in_place = isinstance(node.returns, ast.Constant) and node.returns.value in {None, "None"}
    parameters = parameters_of(owner, node)
    if node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
        raise NoFunctionError("its function takes a number of arguments that varies")
    types = [(parameter.arg, _type_of(parameter.annotation)) for parameter in parameters]
    result = None if in_place else _type_of(node.returns)
    return Function(entry_point, tuple(types), result, owner or "")


def _type_of(annotation: ast.expr | None) -> ValueType:
    depth, inner = 0, annotation
    while isinstance(inner, ast.Subscript) and _name(inner.value) in LISTS and depth < MOST_DEPTH:
        inner, depth = inner.slice, depth + 1
    scalar = SCALARS.get(_name(inner))
    if scalar is None:
        what = "its starter code gives no types" if annotation is None else _words(annotation)
        raise NoFunctionError(what)
    return ValueType(scalar, depth)


def _words(annotation: ast.expr) -> str:
    try:
        return f"it has a value of the type {ast.unparse(annotation)[:60]!r}"
    except RecursionError:
        return "it has a value of a type that is nested too deeply"


def _name(node: ast.expr | None) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
