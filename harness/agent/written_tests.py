"""Tests that a model writes: read from its answer, and run on solutions in the sandbox.

For a function a test is an assertion, such as `assert f(1, 2) == 3`; for a program it is an input
and an output in two fenced blocks. A test is kept as a `TestCase` whose input is the call, in
Python, and whose output the expected value, or `NO_EXCEPTION` where the assertion is another
expression. They are judged as the problem's own tests are, by its rule or checker, with less time.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness import python_source
from harness.excerpts import shorten
from harness.frozen import Frozen
from harness.grading.jobs import Judgement, Options
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.judged_by import NO_EXCEPTION
from harness.problem import Codec, Problem, ProblemView, Signature, TestCase, TestSuite
from harness.registry import READ_UNITS, resolve
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.program import Program
from harness.tools.workspace import Texts, Workspace

MOST_TESTS = 20
"""Most tests read from one answer."""
LONGEST_TEST = 4_000
"""Most characters of a test's input or output."""
MOST_CPU_S = 1.0
"""Most CPU seconds of a test that a model wrote, whose inputs are small."""
SHOWN = 3
"""Failed tests that a report shows."""
LONGEST_SHOWN = 800

_FENCE = re.compile(r"^[ \t]*(`{3,})[^\n`]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_INPUT = re.compile(r"\binput\b", re.IGNORECASE)
_OUTPUT = re.compile(r"\boutput\b", re.IGNORECASE)
_PLAIN = frozenset({Codec.JSON, Codec.LINKED_LIST, Codec.LINKED_LISTS, Codec.TREE, Codec.TREES})
_RESULTS = _PLAIN | {Codec.INT_KEYS, Codec.FIRST_ARGUMENT}


class WrittenRun(Frozen):
    """Result of a solution on written tests: which it passes, and a report for the model."""

    passed: tuple[bool, ...]
    report: str


@dataclass(frozen=True, slots=True)
class WrittenTestRunner:
    """Reads the tests that a model wrote for a problem, and runs them.

    Attributes:
        view: the problem without its hidden tests.
        task: how its solutions are judged, without hidden tests.
        pool: executor of the tests.
        workspace: workspace that counts the seconds of waiting for a worker; None for none.
        texts: words of the report; None for no report.
    """

    view: ProblemView
    task: Task
    pool: Executor
    workspace: Workspace | None = None
    texts: Texts | None = None

    def read(self, text: str) -> tuple[TestCase, ...]:
        """Return the usable tests of an answer, without repeats, at most `MOST_TESTS`."""
        if self.view.entry_point is None:
            tests = _programs_tests(text)
        else:
            tests = _assertions(text, self.view.entry_point)
        short = (each for each in tests if max(len(each.input), len(each.output)) <= LONGEST_TEST)
        return tuple(dict.fromkeys(each for each in short if self._usable(each)))[:MOST_TESTS]

    async def run(self, code: str, tests: Sequence[TestCase]) -> WrittenRun:
        """Run a solution on the tests. Raises SandboxError."""
        waited = self.workspace.queued if self.workspace is not None else None
        asked, suite = self._task(code, tests)
        grade = await self.pool.call(Judgement(asked, suite), urgent=True, queued=waited)
        passed = {test.index for test in grade.tests if test.passed}
        return WrittenRun(
            passed=tuple(number in passed for number in range(len(tests))),
            report=_report(grade, tests, self.texts) if self.texts is not None else "",
        )

    def _usable(self, test: TestCase) -> bool:
        if self.view.entry_point is None or self._by_code:
            return True
        return _as_values(test, self.view.signature) is not None

    @property
    def _by_code(self) -> bool:
        return self.task.checker is not None and self.task.checker.tests is not None

    def _task(self, code: str, tests: Sequence[TestCase]) -> tuple[Task, Shared[TestSuite]]:
        limits = replace(self.task.limits, cpu_s=min(self.task.limits.cpu_s, MOST_CPU_S))
        program = Program.of(self.view, code)
        task = self.task._replace(program=program, limits=limits, isolate=False, stop=Stop.LATE)
        given = tests
        if self._by_code:
            assert task.checker is not None
            assert task.checker.tests is not None
            units = resolve(READ_UNITS)([_statement(each) for each in tests])
            script = units.script(range(len(tests)), to_the_last=False)
            around = task.checker.tests.model_copy(update={"public": script, "hidden": None})
            task = task._replace(checker=task.checker.model_copy(update={"tests": around}))
        elif self.view.entry_point is not None:
            values = (_as_values(each, self.view.signature) for each in tests)
            given = [each for each in values if each is not None]
            assert len(given) == len(tests)
        return task, Shared(TestSuite(tuple(given)))


def runner_of(
    problem: Problem, options: Options, pool: Executor, workspace: Workspace | None = None
) -> WrittenTestRunner:
    """Return the runner of a problem's written tests; nothing of it leads to hidden tests."""
    view, task = problem.view(), options.task(problem, "", ()).without_points()
    if task.checker is not None:
        task = task._replace(checker=task.checker.of_public_tests())
    texts = workspace.texts if workspace is not None else None
    return WrittenTestRunner(view, task, pool, workspace, texts)


def _programs_tests(text: str) -> Iterator[TestCase]:
    """Yield pairs of fenced blocks, of which the text before says input and output."""
    end, given = 0, None
    for block in _FENCE.finditer(text):
        before, end, content = text[end : block.start()], block.end(), block[2]
        heading = before.rstrip().rsplit("\n\n", 1)[-1]
        if _OUTPUT.search(heading) and given is not None:
            yield TestCase(input=given, output=content, public=True)
            given = None
        elif _INPUT.search(heading):
            given = content


def _assertions(text: str, entry_point: str) -> Iterator[TestCase]:
    """Yield the assertions on a function, from the fenced blocks or else the whole text."""
    for block in [fence[2] for fence in _FENCE.finditer(text)] or [text]:
        tree = python_source.parse_or_none(block)
        if tree is not None:
            statements = [each for each in ast.walk(tree) if isinstance(each, ast.Assert)]
            statements.sort(key=lambda each: (each.lineno, each.col_offset))
        else:
            lines = (line.strip() for line in block.splitlines())
            trees = [python_source.parse_or_none(e) for e in lines if e.startswith("assert")]
            bodies = [tree.body for tree in trees if tree is not None]
            statements = [each for body in bodies for each in body if isinstance(each, ast.Assert)]
        for each in statements:
            test = _assertion(each, entry_point)
            if test is not None:
                yield test


def _assertion(statement: ast.Assert, entry_point: str) -> TestCase | None:
    """Return an assertion as a test; None if it does not call the function."""
    try:
        condition = _Bare(entry_point).visit(statement.test)
        called = [each for each in ast.walk(condition) if _is_call(each, entry_point)]
        if not called:
            return None
        match condition:
            case ast.Compare(left, [ast.Eq() | ast.Is()], [right]) if _is_call(left, entry_point):
                given, wanted = ast.unparse(left), ast.unparse(right)
            case _:
                given, wanted = f"assert {ast.unparse(condition)}", NO_EXCEPTION
    except RecursionError:
        return None
    test = TestCase(input=given, output=wanted, public=True)
    try:
        resolve(READ_UNITS)([_statement(test)])
    except ValueError:
        return None
    return test


class _Bare(ast.NodeTransformer):
    """Replaces a method of `Solution()` or a module by the bare name of the function."""

    def __init__(self, entry_point: str) -> None:
        self.entry_point = entry_point

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == self.entry_point:
            return ast.Name(node.attr, ast.Load())
        return self.generic_visit(node)


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _statement(test: TestCase) -> str:
    if test.output == NO_EXCEPTION:
        return test.input
    return f"assert {test.input} == {test.output}"


def _as_values(test: TestCase, signature: Signature) -> TestCase | None:
    """Return a test in the JSON of the problem's own tests; None if it cannot be written so."""
    arguments = signature.arguments
    if not (signature.result in _RESULTS and all(each in _PLAIN for each in arguments)):
        return None
    call, wanted = test.input, test.output
    if wanted == NO_EXCEPTION:
        negated = call.removeprefix("assert not ")
        call, wanted = (negated, "False") if negated != call else (call[len("assert ") :], "True")
    parsed = python_source.parse_expression_or_none(call)
    if not isinstance(parsed, ast.Call) or parsed.keywords:
        return None
    try:
        given = [_json(ast.unparse(each)) for each in parsed.args]
        return TestCase(input="\n".join(given), output=_json(wanted), public=True)
    except (*python_source.UNREADABLE, TypeError):
        return None


def _json(literal: str) -> str:
    """Return a Python literal as JSON. Raises one of `UNREADABLE`, or TypeError."""
    return json.dumps(python_source.read_literal(literal), allow_nan=False)


def _report(grade: Grade, tests: Sequence[TestCase], texts: Texts) -> str:
    """Describe the result on written tests: the first failures in detail."""
    failed = [each for each in grade.tests if not each.passed]
    compiled = grade.verdict is not Verdict.COMPILE_ERROR
    error = grade.tests[0].error.strip() if grade.tests and not compiled else ""
    return texts.render_part(
        "own_tests",
        compile_error="" if compiled else shorten(error, LONGEST_SHOWN) or grade.verdict.value,
        passed=sum(each.passed for each in grade.tests),
        total=len(tests),
        failed=[_failure(each, tests[each.index]) for each in failed[:SHOWN]],
    )


def _failure(result: TestResult, test: TestCase) -> dict[str, str]:
    expected = "" if test.output == NO_EXCEPTION else test.output.strip()
    return {
        "verdict": result.verdict.value.replace("_", " "),
        "input": shorten(test.input.strip(), LONGEST_SHOWN),
        "expected": shorten(expected, LONGEST_SHOWN),
        "got": shorten(result.got, LONGEST_SHOWN),
        "error": result.error.strip()[-LONGEST_SHOWN:],
    }
