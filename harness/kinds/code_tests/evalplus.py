"""EvalPlus' tests taken apart: a loop over inputs and results becomes a test for each input.

Rows of `evalplus/humanevalplus` and `evalplus/mbppplus` hold one script. It lists all inputs and
results as literals, and its last statement is a loop that compares them. Read as it stands, it is
one test of about a thousand calls. The items are cut out of the text: to write them anew from their
syntax trees takes two seconds for each megabyte.

The script compares with numpy's `allclose` alone, to which `[]` is close to every number. EvalPlus'
own evaluator, which made the published scores, compares type and length first; here too.
"""

import ast
import re

from harness.kinds.code_tests.units import CHECK, Units, is_harmless, parse, read_units

_FORMS = {
    "for _, inp in enumerate(inputs): pass": ("inputs",),
    "for _, (inp, exp) in enumerate(zip(inputs, results)): pass": ("inputs", "results"),
}
_HOLE = re.compile("__(?:input|result)__")
_COMPARING = re.compile(
    r"^def assertion\(out, exp, atol\):\n(?:[ \t]+.*\n|[ \t]*\n)+", re.MULTILINE
)
_AS_ITS_EVALUATOR = """\
def assertion(out, exp, atol):
    import numpy
    if out == exp:
        return
    several = isinstance(exp, (list, tuple))
    if atol == 0 and (
        isinstance(exp, float)
        or (several and exp and all(isinstance(each, float) for each in exp))
        or (isinstance(exp, numpy.ndarray) and exp.dtype in (numpy.float64, numpy.float32))
    ):
        atol = 1e-6
    assert atol != 0, "not equal"
    assert type(out) == type(exp), "of another type"
    assert not several or len(out) == len(exp), "of another length"
    assert numpy.allclose(out, exp, rtol=1e-07, atol=atol), "not close"

"""


def read_script(code: str, entry_point: str | None = None) -> Units:
    """Split test code into tests; that of EvalPlus compares as EvalPlus' evaluator does.

    Args:
        code: test code, of EvalPlus or another.
        entry_point: the function that `candidate` stands for, to make a test of each input of a
            script of EvalPlus; None to leave its loop as one test.

    Raises:
        TestCodeError: it is not Python, or contains no test.
    """
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    code = _COMPARING.sub(_as_its_evaluator, code, count=1)
    units = None if entry_point is None else units_by_input(code, entry_point)
    return units or read_units(code)


def _as_its_evaluator(function: re.Match[str]) -> str:
    return _AS_ITS_EVALUATOR if "np.allclose" in function[0] else function[0]


def units_by_input(code: str, entry_point: str) -> Units | None:
    """Take an EvalPlus script apart, a test for each input; None for code of another form.

    Args:
        code: the script.
        entry_point: the function that `candidate` stands for.

    Raises:
        TestCodeError: it is not valid Python.
    """
    tree = parse(code)
    checks = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    check = next((each for each in checks if each.name == CHECK), None)
    body = tree.body if check is None else check.body
    loop = body[-1] if body else None
    wanted = _lists_of(loop) if isinstance(loop, ast.For) else None
    if wanted is None or not isinstance(loop, ast.For):
        return None
    lists = {name: value for each in body for name, value in _list_named(each)}
    if not lists.keys() >= set(wanted):
        return None
    lines = code.encode().split(b"\n")
    values = [[_text(lines, each) for each in lists[name].elts] for name in wanted]
    inputs = [each for each in lists["inputs"].elts if isinstance(each, ast.List)]
    if not inputs or {len(inputs)} != {len(each) for each in values}:
        return None
    statement = ast.unparse(_Holes(entry_point).visit(loop.body[0]))
    texts = tuple(
        _filled(statement, given[1:-1].strip().rstrip(","), result)
        for given, result in zip(values[0], values[-1], strict=True)
    )
    for name in wanted:
        lists[name].elts = []
    tests: list[ast.stmt] = [ast.Pass() for _ in texts]
    alone = all(map(is_harmless, [*tree.body, *body[:-1]]))
    body[-1:] = tests
    call = "" if check is None else CHECK
    return Units(tree, call, tuple((body, each) for each in tests), alone=alone, texts=texts)


def _lists_of(loop: ast.For) -> tuple[str, ...] | None:
    """The lists that a loop goes over, where it is EvalPlus' and its items are told apart."""
    if len(loop.body) != 1 or loop.orelse or not isinstance(loop.target, ast.Tuple):
        return None
    number, item = loop.target.elts
    nodes = [*ast.walk(loop.body[0])]
    starred = [node.value for node in nodes if isinstance(node, ast.Starred)]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    spread = [each.id for each in starred if isinstance(each, ast.Name)].count("inp")
    if not spread or names.count("inp") != spread:  # an input may stand as the arguments only
        return None
    if isinstance(number, ast.Name) and number.id in names:
        return None
    head = f"for _, {ast.unparse(item)} in {ast.unparse(loop.iter)}: pass"
    known = {ast.unparse(parse(form)): lists for form, lists in _FORMS.items()}
    return known.get(ast.unparse(parse(head)))


def _list_named(statement: ast.stmt) -> list[tuple[str, ast.List]]:
    match statement:
        case ast.Assign([ast.Name(name)], ast.List() as value):
            return [(name, value)]
        case _:
            return []


def _filled(statement: str, given: str, result: str) -> str:
    holes = {"__input__": given, "__result__": result}
    return _HOLE.sub(lambda hole: holes[hole[0]], statement)


class _Holes(ast.NodeTransformer):
    """Puts names for holes in place of the loop's variables, and the function's own name.

    Args:
        entry_point: of the function.
    """

    def __init__(self, entry_point: str) -> None:
        self.names = {"candidate": entry_point, "exp": "__result__"}

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "inp":
            return ast.Name("__input__", ast.Load())
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _text(lines: list[bytes], node: ast.expr) -> str:
    """Return the text of an expression; its place is in lines, and bytes of UTF-8 in a line."""
    chosen = lines[node.lineno - 1 : node.end_lineno or node.lineno]
    chosen[-1] = chosen[-1][: node.end_col_offset]
    chosen[0] = chosen[0][node.col_offset :]
    return b"\n".join(chosen).decode()
