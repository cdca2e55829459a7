"""Test code split into tests and the code around them.

It reads a function `check(candidate)`, a `unittest.TestCase`, functions `test_…`, and statements of
the module itself. In a body each assertion is a test, and so is each loop, condition or helper call
that asserts; the other statements prepare them. Calls after the last test are one more test. The
code is parsed here and never run.
"""

import ast
import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from harness import python_source
from harness.judged_by import NO_EXCEPTION, Checker, TestCode, TestScript
from harness.kinds.code_tests.asserting import asserting_names, asserts_something, is_test
from harness.kinds.code_tests.names import Known, names_of
from harness.problem import TestCase

MOST_CHARACTERS = 1 << 25
CHECK = "check"
OF_PYTEST = frozenset({"raises", "approx", "fail"})
_STARTS = frozenset({"main"})
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
_MAINS = {"unittest.main", "pytest.main"}


class TestCodeError(ValueError):
    """Test code that cannot be used; the message is the reason."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class Units:
    """Test code split into tests.

    Attributes:
        tree: the whole code.
        call: name of the function to call with the entry point; empty for none.
        tests: the tests, each with the body that holds it.
        alone: whether no test depends on another one's execution.
        texts: source of the tests, if it is known; the statements are placeholders then.
    """

    tree: ast.Module
    call: str
    tests: tuple[tuple[list[ast.stmt], ast.stmt], ...]
    alone: bool
    texts: tuple[str, ...] = ()

    def cases(self, entry_point: str) -> list[TestCase]:
        """Return the tests, in order, not public."""
        if self.texts:
            return [TestCase(input=e, output=NO_EXCEPTION, public=False) for e in self.texts]
        return [_test_case(statement, self.call, entry_point) for _, statement in self.tests]

    def script(self, chosen: Sequence[int], *, to_the_last: bool) -> TestScript:
        """Return the code around some of the tests.

        Args:
            chosen: indexes of the tests.
            to_the_last: whether to leave out the rest of the body after the last of them.
        """
        slots = {id(self.tests[number][1]): slot for slot, number in enumerate(chosen)}
        others = {id(statement) for _, statement in self.tests} - slots.keys()
        last = self.tests[chosen[-1]] if to_the_last and chosen and not self.alone else None
        kept: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
        for body in {id(body): body for body, _ in self.tests}.values():
            kept.append((body, list(body)))
            until = body.index(last[1]) + 1 if last is not None and last[0] is body else len(body)
            body[:] = [
                each for statement in body[:until] for each in self._shown(statement, slots, others)
            ] or [ast.Pass()]
        try:
            source = ast.unparse(self.tree)
        finally:
            for body, statements in kept:
                body[:] = statements
        return TestScript(source=source, slots=len(chosen), call=self.call)

    def _shown(
        self, statement: ast.stmt, slots: dict[int, int], others: set[int]
    ) -> Iterable[ast.stmt]:
        if id(statement) in slots:
            number = ast.Constant(slots[id(statement)])
            yield ast.Expr(ast.Call(ast.Name("__slot__", ast.Load()), [number], []))
        elif id(statement) not in others:
            yield statement
        elif not self.alone:  # the following code may depend on it
            attempt = python_source.parse("try: pass\nexcept Exception: pass").body[0]
            assert isinstance(attempt, ast.Try)
            attempt.body = [statement]
            yield attempt


def read_units(code: str | Sequence[str]) -> Units:
    """Split test code into tests.

    Args:
        code: the whole code, or a list of tests, which are statements.

    Raises:
        TestCodeError: it is not Python, or contains no test.
    """
    if not isinstance(code, str):
        return _listed(code)
    tree = parse(code)
    tree.body = [each for each in tree.body if not is_start(each)]
    _check_pytest(tree)
    asserting = asserting_names(tree)
    checks = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    check = next((each for each in checks if each.name == CHECK), None)
    if check is not None:
        if not check.args.args and not check.args.posonlyargs and not check.args.vararg:
            raise TestCodeError("its function 'check' takes no argument, the solution's function")
        return _of_body(tree, check.body, CHECK, asserting)
    methods = _methods(tree)
    if methods:
        drop_starts(tree, {each.name for each in tree.body if isinstance(each, ast.ClassDef)})
        return Units(tree, "", tuple(methods), alone=True)
    functions = [each for each in checks if each.name.startswith("test")]
    if functions:
        if any(each.args.args for each in functions):
            raise TestCodeError("its test functions take arguments (fixtures), which is not known")
        drop_starts(tree, {each.name for each in functions})
        return Units(tree, "", tuple((tree.body, each) for each in functions), alone=True)
    return _of_body(tree, tree.body, "", asserting)


def _listed(code: Sequence[str]) -> Units:
    """Return the tests of a list; one of several statements becomes a function."""
    tree = ast.Module([], [])
    bodies = [parse(text, f"test {number}: ").body for number, text in enumerate(code, 1)]
    whole = ast.Module([each for body in bodies for each in body], [])
    _check_pytest(whole)
    asserting = asserting_names(whole)
    tests: list[ast.stmt] = []
    alone = True
    for number, body in enumerate(bodies, 1):
        if not any(is_test(each, asserting) for each in body):
            tree.body += body
            alone = alone and all(map(is_harmless, body))
            continue
        test = _in_one(body, number)
        tree.body += test
        tests.append(test[-1])
    if not tests:
        raise TestCodeError("no test is in it: nothing is asserted")
    tests += _calls_at_the_end(tree.body, tests[-1])
    return Units(tree, "", tuple((tree.body, each) for each in tests), alone=alone)


def _in_one(body: list[ast.stmt], number: int) -> list[ast.stmt]:
    """Return a list's item as one statement: several become a function."""
    if len(body) == 1:
        return body
    function = python_source.parse(f"def test_{number}(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = body
    return [function]


def parse(code: str, where: str = "") -> ast.Module:
    """Parse Python. Raises TestCodeError; its message begins with `where`."""
    if len(code) > MOST_CHARACTERS:
        raise TestCodeError(f"{where}longer than {MOST_CHARACTERS:,} characters")
    try:
        return python_source.parse(code)
    except python_source.UNREADABLE as error:
        what = f"not valid Python: {python_source.reason(error)}"
        raise TestCodeError(where + what) from None


def _of_body(tree: ast.Module, body: list[ast.stmt], call: str, asserting: set[str]) -> Units:
    tests = [each for each in body if is_test(each, asserting)]
    if not tests:
        what = "its function 'check' asserts nothing" if call else "no test is in it: it has no "
        what += "" if call else "function 'check', no unittest.TestCase and no assertion"
        raise TestCodeError(what)
    tests += _calls_at_the_end(body, tests[-1])
    others = [each for each in body if each not in tests]
    alone = all(map(is_harmless, others)) and all(isinstance(each, ast.Assert) for each in tests)
    return Units(tree, call, tuple((body, each) for each in tests), alone=alone)


def _calls_at_the_end(body: list[ast.stmt], last: ast.stmt) -> list[ast.stmt]:
    """Make one statement of the calls after the last test, and return it, if there are any."""
    rest = [*dropwhile(_says_nothing, body[body.index(last) + 1 :])]
    if not rest:
        return []
    statement = rest[0]
    if len(rest) > 1:
        statement = ast.If(ast.Constant(value=True), rest, [])
    body[-len(rest) :] = [statement]
    return [statement]


def _says_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement makes no call, or only prints something."""
    match statement:
        case ast.Expr(ast.Call(ast.Name("print"), arguments)):
            return not any(isinstance(n, ast.Call) for each in arguments for n in ast.walk(each))
        case _:
            return is_harmless(statement)


def _check_pytest(tree: ast.Module) -> None:
    unknown = unknown_names(tree)
    if unknown:
        known = ", ".join(sorted(OF_PYTEST))
        raise TestCodeError(f"it uses pytest.{unknown[0]}; of pytest only {known} are known")


def is_harmless(statement: ast.stmt) -> bool:
    """Return whether a statement makes no call, so that no test depends on its place."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    return not any(isinstance(node, ast.Call) for node in ast.walk(statement))


def _methods(tree: ast.Module) -> list[tuple[list[ast.stmt], ast.stmt]]:
    return [
        (each.body, method)
        for each in tree.body
        if isinstance(each, ast.ClassDef)
        and any(ast.unparse(base).rpartition(".")[2].endswith("TestCase") for base in each.bases)
        for method in each.body
        if isinstance(method, ast.FunctionDef) and method.name.startswith("test")
    ]


def _test_case(statement: ast.stmt, call: str, entry_point: str) -> TestCase:
    if call:
        statement = _Named(entry_point).visit(copy.deepcopy(statement))
    match statement:
        case ast.Assert(ast.Compare(left, [ast.Eq()], [right])):
            given, wanted = ast.unparse(left), ast.unparse(right)
        case _:
            given, wanted = ast.unparse(statement), NO_EXCEPTION
    return TestCase(input=given, output=wanted, public=False)


class _Named(ast.NodeTransformer):
    """Replaces `candidate` by the name of the solution's function."""

    def __init__(self, entry_point: str) -> None:
        self.entry_point = entry_point

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.entry_point, node.ctx) if node.id == "candidate" else node


def code_tests(
    public: Units | None,
    hidden: Units | None,
    entry_point: str,
    before: str,
    first: int = 0,
    *,
    known: Known,
) -> tuple[Checker, tuple[TestCase, ...], tuple[TestCase, ...]]:
    """Return the checker and the public and hidden tests of test code.

    Args:
        public: tests that the model may see, if they are separate.
        hidden: the other tests, or all.
        entry_point: name of the function or class that they call.
        before: source that runs before them.
        first: number of tests of `hidden` that are public, if `public` is None.
        known: what the problem says about names, apart from its tests.
    """
    if public is None:
        parts = [(hidden, slice(first), True), (hidden, slice(first, None), False)]
    else:
        parts = [(public, slice(None), False), (hidden, slice(None), False)]
    cases = [units.cases(entry_point)[chosen] if units else [] for units, chosen, _ in parts]
    scripts = [
        units.script(range(len(units.tests))[chosen], to_the_last=to_the_last)
        if units is not None and case
        else None
        for (units, chosen, to_the_last), case in zip(parts, cases, strict=True)
    ]
    read = [units for units in (public, hidden) if units is not None]
    names = names_of(
        [units.tree for units in read],
        before,
        [text for units in read for text in units.texts],
        entry_point,
        replace(known, shown="\n".join(test.input for test in cases[0])),
    )
    code = TestCode(
        before="\n".join(filter(None, (names.before, before))),
        classes=names.classes,
        shared=names.shared,
        asked=names.asked,
        public=scripts[0],
        hidden=scripts[1],
    )
    shown, unknown = cases
    marked = tuple(test.model_copy(update={"public": True}) for test in shown)
    unused = {name for name in ("classes", "shared", "asked") if not getattr(code, name)}
    text = code.model_dump_json(exclude=unused).encode("utf-8", "surrogatepass")
    checker = Checker(kind="tests", code=hashlib.sha256(text).hexdigest(), tests=code)
    return checker, marked, tuple(unknown)


def asserts(code: str) -> bool:
    """Whether any of it asserts or raises. Raises TestCodeError: it is not valid Python."""
    return asserts_something(parse(code), set())


def called_names(code: Sequence[str]) -> set[str]:
    """Return the names that are called in some Python; unparsable code calls nothing."""
    names: set[str] = set()
    for text in code:
        try:
            tree = parse(text)
        except TestCodeError:
            continue
        names |= {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
    return names


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
