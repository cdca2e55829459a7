"""Runs a data set's test code on the outcomes of a solution's calls.

The solution runs in another process; here a `Remote` stands for each of its names. The tests' own
code decides the verdict in this process.
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
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeGuard

from inside.calls import pytest_names
from inside.calls.exchange import UnsendableError
from inside.calls.remote import ExhaustedError, MissingOutcomeError, RemoteCalls
from inside.calls.signals import ERRORS, SolutionError, error_name
from inside.calls.slots import Slots, parse

EXCERPT = 2_000
SLOT = "__slot__"
OWN_MISTAKES = (ImportError, NameError, SyntaxError, OSError, UnsendableError)
"""Exceptions in the tests' own code that no solution is to blame for."""
_EXCEPTIONS = ("Error", "Exception")
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


def run_tests(script: dict[str, Any], known: str, outcomes: str) -> str:
    """Run tests as far as the known outcomes allow.

    Args:
        script: `source`, with slots; `units`, their tests; `wanted`, the slots to run; `before`,
            source to put first; `classes`, names of the solution's classes; `shared`, names
            of classes that `before` and the solution's preamble define; `asked`, names that the
            solution defines; `entry_point` and `call`, the tests' function called with it.
        known: calls already carried out, one line of JSON each.
        outcomes: outcomes of the first of those calls, one line each.

    Returns:
        JSON: the `calls` made, the outcomes `used`, whether the run is `complete`, calls before
            each started slot (`begun`), `failed` by slot, `aborted` if an exception
            or a failing exit ended the tests, and
            how often objects of the solution influenced a verdict (`asked`).
    """
    calls = RemoteCalls(known, outcomes, script["classes"], script["entry_point"])
    return json.dumps(_Run(script, calls).report())


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
            if not _is_clean_exit(error):
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
        namespace.update(self._hooks())
        self._share(namespace)
        tree = Slots(self.script).tree()
        self._name(tree, namespace)
        exec(compile(tree, "tests.py", "exec"), namespace)
        if self.script["call"]:
            namespace[self.script["call"]](self._remote(self.script["entry_point"]))

    def _share(self, namespace: dict[str, Any]) -> None:
        if self.script["shared"]:
            exec(compile(parse(self.script["before"], "tests.py"), "tests.py", "exec"), namespace)
            self.calls.share({name: namespace[name] for name in self.script["shared"]})

    def _name(self, tree: ast.Module, namespace: dict[str, Any]) -> None:
        """Bind the names that the problem asks the solution to define, and exceptions."""
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        used -= vars(builtins).keys() | namespace.keys()
        theirs = {*self.script["asked"], self.script["entry_point"]} - namespace.keys()
        theirs |= {name for name in used if name.endswith(_EXCEPTIONS)}
        theirs.discard("")
        for name in theirs:
            namespace[name] = self._remote(name)
        solution = ModuleType("solution")
        solution.__getattr__ = self._remote  # type: ignore[method-assign]
        solution.__dict__["__all__"] = sorted(theirs - _bound(tree))
        sys.modules["solution"] = solution
        sys.modules["pytest"] = pytest_names.module()

    def _remote(self, name: str) -> Any:
        if name.endswith(_EXCEPTIONS):
            made = type(name, (SolutionError,), {})
            return self.calls.exceptions.setdefault(name, made)
        return self.calls.name(name)

    def _hooks(self) -> dict[str, Any]:
        return {
            "__begin__": self._begin,
            "__failing__": lambda: BaseException,
            "__fail__": self._fail,
            "__caught__": self._caught,
            "__skip__": self.calls.skip,
            "__compare__": self._compare,
            "__case__": _run_case,
            **{error_name(kind): error for kind, error in ERRORS.items()},
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
        if isinstance(error, ExhaustedError) or _is_clean_exit(error):
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
            described = {"kind": "wrong", "text": str(error)[:EXCERPT]}
            if self.compared is not None:
                left, right = (repr(value)[:EXCERPT] for value in self.compared)
                described |= {"got": left, "expected": right}
            return described
        described = "".join(traceback.format_exception_only(error)).strip()
        kind = "fault" if isinstance(error, OWN_MISTAKES) else "wrong"
        if len(self.calls.made) <= bool(self.calls.shared) and not isinstance(
            error, UnsendableError
        ):
            kind = "fault"
        return {"kind": kind, "text": f"the test raised {described}"[:EXCERPT]}


def _is_clean_exit(error: BaseException | None) -> TypeGuard[SystemExit]:
    """Return whether the tests end themselves without an error; a solution cannot end them."""
    if not isinstance(error, SystemExit) or "solution_text" in error.__dict__:
        return False
    return error.code in {None, 0}


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
