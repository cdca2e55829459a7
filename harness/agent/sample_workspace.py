"""The workspace of one sample: public tests and programs run by an executor."""

from dataclasses import replace

from harness.agent.written_tests import runner_of
from harness.grading.jobs import Judgement, Options, TrialRun
from harness.grading.verdict import Grade
from harness.languages.starters import view_in
from harness.problem import Problem, ProblemView, Signature, TestSuite
from harness.sandbox.execution import Execution
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.program import Program
from harness.tools import REPORT_TESTS
from harness.tools.workspace import Texts, Workspace


def workspace_of(
    problem: Problem,
    options: Options,
    pool: Executor,
    texts: Texts,
    report_tests: int = REPORT_TESTS,
) -> Workspace:
    """Return an empty workspace for a problem.

    Args:
        problem: the sample's problem.
        options: how solutions are judged, except that tests are not isolated from each other.
        pool: executor of tests and programs, at higher priority than work no model waits for.
        texts: what the model is told.
        report_tests: failing tests that a report shows in full.
    """
    # The strategy and tools get the closures below, which must not refer to `problem`.
    view, task = view_in(problem, options.language), options.task(problem, "", ())
    if task.checker is not None:
        task = task._replace(checker=task.checker.of_public_tests())

    language = task.program.language, task.program.flags

    async def run_public_tests(code: str) -> Grade:
        asked = task._replace(program=Program.of(view, code, *language), isolate=False)
        tests = Shared(TestSuite(view.public_tests))
        return await pool.call(Judgement(asked, tests), urgent=True, queued=workspace.queued)

    async def run_code(code: str, stdin: str) -> Execution:
        data = stdin.encode("utf-8", "surrogatepass")
        trial = TrialRun(_script(view, code, *language), data, task.limits)
        return await pool.call(trial, urgent=True, queued=workspace.queued)

    workspace = Workspace(
        view,
        texts,
        run_public_tests,
        task.limits.cpu_s,
        task.limits.memory_bytes,
        run_code=run_code,
        report_tests=report_tests,
    )
    workspace.language, workspace.flags = language
    workspace.written_tests = runner_of(problem, options, pool, workspace)
    return workspace


def _script(problem: ProblemView, code: str, language: str, flags: str) -> Program:
    """Return a program that calls no function; one in Python has the problem's preamble."""
    program = Program.of(problem, code, language, flags)
    return replace(program, entry_point=None, signature=Signature(), function=None)
