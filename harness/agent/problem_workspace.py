"""The workspace of one sample: a problem without hidden tests, and a sandbox behind its tools."""

from dataclasses import replace

from harness.grading.jobs import Judgement, Options, Trial
from harness.grading.verdict import Grade
from harness.problem import Problem, TestSuite
from harness.sandbox.executor import Executor, Shared
from harness.sandbox.program import Execution, Program
from harness.tools.workspace import Workspace


def workspace_of(problem: Problem, options: Options, pool: Executor) -> Workspace:
    """Return an empty workspace for a problem.

    Args:
        problem: what the sample is about.
        options: how solutions are judged; an isolated process for every test is not used here.
        pool: where tests and programs run, before work that no model waits for.
    """
    # The closures below go to strategy and tools: they may hold nothing that holds `problem`.
    view, task = problem.view(), options.task(problem, "", ())
    if task.checker is not None:
        task = replace(task, checker=task.checker.of_public_tests())

    async def run_public_tests(code: str) -> Grade:
        asked = replace(task, program=Program.of(view, code), isolate=False)
        tests = Shared(TestSuite(view.public_tests))
        return await pool.call(Judgement(asked, tests), urgent=True, queued=workspace.queued)

    async def run_code(code: str, stdin: str) -> Execution:
        data = stdin.encode("utf-8", "surrogatepass")
        trial = Trial(Program(code, view.preamble), data, task.limits)
        return await pool.call(trial, urgent=True, queued=workspace.queued)

    workspace = Workspace(view, run_public_tests, task.limits.cpu_s, run_code=run_code)
    return workspace
