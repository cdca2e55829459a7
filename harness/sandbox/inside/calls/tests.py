"""Runs a data set's test code on the outcomes of a solution's calls.

The solution runs in another process; here a `Remote` stands for each of its names. The tests' own
code decides the verdict in this process.

In a script of test code each test is a slot, `__slot__(number)`; the tests are passed separately.
A slot may be in a function, at module level, or in a `unittest.TestCase`, as a method.
"""

# Values of unknown type are this module's subject.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

import ast
import builtins
import json
import operator
import random
import sys
import traceback
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from inside.calls.exchange import UnsendableError
from inside.calls.remote import (
    ExhaustedError,
    MissingOutcomeError,
    Remote,
    RemoteCalls,
    SolutionError,
)

EXCERPT = 2_000
SLOT = "__slot__"
OWN_MISTAKES = (ImportError, NameError, SyntaxError, OSError, UnsendableError)
"""Exceptions in the tests' own code that no solution is to blame for."""
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Assert, ast.Delete)
_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def run_tests(script: dict[str, Any], known: str, outcomes: str) -> str:
    """Run tests as far as the known outcomes allow.

    Args:
        script: `source`, with slots; `units`, their tests; `wanted`, the slots to run; `before`,
            source to put first; `entry_point` and `call`, the tests' function called with it.
        known: calls already carried out, one line of JSON each.
        outcomes: outcomes of the first of those calls, one line each.

    Returns:
        JSON: the `calls` made, the outcomes `used`, whether the run is `complete`, calls before
            each started slot (`begun`), `failed` by slot, `aborted` if the tests ended early, and
            how often objects of the solution influenced a verdict (`asked`).
    """
    return json.dumps(_Run(script, RemoteCalls(known, outcomes)).report())


class _Run:
    """One run of a script.

    Attributes:
        begun: the number of calls made before each slot.
        failed: the failure of each failed slot.
        compared: the operands of an assertion's latest comparison.
    """

    def __init__(self, script: dict[str, Any], calls: RemoteCalls) -> None:
        self.script = script
        self.calls = calls
        self.wanted = set(script["wanted"])
        self.begun: dict[int, int] = {}
        self.failed: dict[int, dict[str, str]] = {}
        self.compared: tuple[Any, Any] | None = None

    def report(self) -> dict[str, Any]:
        """Run the script and return the report."""
        aborted: dict[str, str] | None = None
        random.seed(0)
        try:
            self._run()
        except MissingOutcomeError:
            pass
        except ExhaustedError:
            self.calls.guessing = True
        except BaseException as error:
            aborted = self._said(error)
        return {
            "calls": "\n".join(self.calls.made),
            "count": len(self.calls.made),
            "used": self.calls.used,
            "complete": not self.calls.guessing,
            "begun": self.begun,
            "failed": self.failed,
            "aborted": None if self.calls.guessing else aborted,
            "asked": self.calls.asked,
        }

    def _run(self) -> None:
        module = ModuleType("tests")
        namespace = module.__dict__
        sys.modules["tests"] = module
        namespace["__file__"] = "tests.py"
        tree = _Slots(self.script).tree()
        self._name(tree, namespace)
        namespace.update(self._hooks())
        exec(compile(tree, "tests.py", "exec"), namespace)
        if self.script["call"]:
            namespace[self.script["call"]](self._remote(self.script["entry_point"]))

    def _name(self, tree: ast.Module, namespace: dict[str, Any]) -> None:
        """Bind every name that nothing else defines to a stand-in for the solution."""
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        used -= vars(builtins).keys() | namespace.keys()
        used = {name for name in used if not name.startswith("__")}
        if self.script["entry_point"]:
            used.add(self.script["entry_point"])
        for name in used:
            namespace[name] = self._remote(name)
        solution = ModuleType("solution")
        solution.__getattr__ = self._remote  # type: ignore[method-assign]
        solution.__dict__["__all__"] = sorted(used - _bound(tree))
        sys.modules["solution"] = solution

    def _remote(self, name: str) -> Any:
        if name.endswith(("Error", "Exception")):
            made = type(name, (SolutionError,), {})
            return self.calls.exceptions.setdefault(name, made)
        return Remote(self.calls, [name], name)

    def _hooks(self) -> dict[str, Any]:
        return {
            "__begin__": self._begin,
            "__failing__": lambda: BaseException,
            "__fail__": self._fail,
            "__caught__": self._caught,
            "__skip__": self.calls.skip,
            "__compare__": self._compare,
            "__case__": _run_case,
        }

    def _begin(self, slot: int) -> bool:
        if slot in self.wanted:
            self.begun.setdefault(slot, len(self.calls.made))
        self.compared = None
        return slot in self.wanted

    def _caught(self) -> tuple[type[BaseException], ...]:
        """Return the exceptions that only skip a statement while outcomes are missing."""
        guessing = self.calls.guessing
        return (MissingOutcomeError, Exception) if guessing else (MissingOutcomeError,)

    def _fail(self, slot: int) -> None:
        error = sys.exception()
        if isinstance(error, ExhaustedError):
            raise error
        if not self.calls.guessing and error is not None:
            self.failed.setdefault(slot, self._said(error))

    def _compare(self, name: str, left: Any, right: Any) -> Any:
        self.compared = None
        result = _COMPARED[name](left, right)
        self.compared = left, right
        return result

    def _said(self, error: BaseException) -> dict[str, str]:
        self.calls.describing = True
        try:
            return self._described(error)
        except BaseException as other:
            return {"kind": "wrong", "text": f"{type(error).__name__} ({type(other).__name__})"}
        finally:
            self.calls.describing = False

    def _described(self, error: BaseException) -> dict[str, str]:
        text = getattr(error, "solution_text", None)
        if isinstance(text, str):
            kind = "memory" if isinstance(error, MemoryError) else "error"
            return {"kind": kind, "text": text[-EXCERPT * 3 :]}
        if isinstance(error, AssertionError):
            said = {"kind": "wrong", "text": str(error)[:EXCERPT]}
            if self.compared is not None:
                left, right = (repr(value)[:EXCERPT] for value in self.compared)
                said |= {"got": left, "expected": right}
            return said
        said = "".join(traceback.format_exception_only(error)).strip()
        kind = "fault" if isinstance(error, OWN_MISTAKES) else "wrong"
        if not self.calls.made and not isinstance(error, UnsendableError):
            kind = "fault"
        return {"kind": kind, "text": f"the test raised {said}"[:EXCERPT]}


class _CaseError(AssertionError):
    """A method of a TestCase failed."""


def _run_case(case: Any, name: str) -> None:
    """Run a method of a `unittest.TestCase` with its fixtures. Raises what it raised."""
    import unittest

    errors: list[BaseException] = []

    class Result(unittest.TestResult):
        def addError(self, test: Any, err: Any) -> None:  # noqa: ARG002, N802
            errors.append(err[1])

        addFailure = addError  # noqa: N815

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: ARG002, N802
            if err is not None:
                errors.append(err[1])

    result = Result()
    unittest.TestSuite([case(name)]).run(result)
    if errors:
        raise errors[0]
    if not result.wasSuccessful():
        raise _CaseError("it failed")


class _Slots:
    """Inserts the tests into their slots and a guard around every statement."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.source: str = f"{script['before']}\n{script['source']}"
        self.units: list[str] = script["units"]
        self.cases: list[ast.stmt] = []

    def tree(self) -> ast.Module:
        """Return the syntax tree to run."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(self.source, "tests.py")
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
        body = ast.parse(self.units[slot], f"test {slot + 1}").body
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
            body = [*body, *ast.parse(f"{body[0].name}()").body]
        body = [_with_operands(each) for each in body]
        return [_judged(slot, self._guarded(body))]

    def _method(self, slot: int, case: str) -> list[ast.stmt]:
        methods = self._guarded(ast.parse(self.units[slot], f"test {slot + 1}").body)
        names = [each.name for each in methods if isinstance(each, ast.FunctionDef)]
        run = ast.parse(f"__case__({case}, {names[-1]!r})").body
        self.cases.append(_judged(slot, run))
        return methods


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that the tests bind themselves."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                names |= {each.asname or each.name.partition(".")[0] for each in aliases}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(name, ast.Store()):
                names.add(name)
            case _:
                pass
    return names


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
