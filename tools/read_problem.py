"""`read_problem`: the statement, how the solution is run, and public tests."""

from harness.languages.known import language
from harness.problem import shows_output
from harness.tools.further_tests import further_tests
from harness.tools.toolbox import NoArguments
from harness.tools.workspace import Workspace

MOST_TESTS = 10


class ReadProblem:
    """Shows the model all it may know about the problem."""

    name = "read_problem"
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Return the problem as text."""
        del arguments
        problem, own = workspace.problem, language(workspace.language)
        further = further_tests(problem)
        numbers = {number for number, _ in further}
        has_starter = problem.entry_point is not None or not own.is_compiled
        has_starter = has_starter and bool(problem.starter_code.strip())
        return workspace.texts.render_part(
            "problem",
            problem=problem,
            cpu_limit_s=workspace.cpu_limit_s,
            memory=workspace.memory,
            flags=workspace.flags or own.flags,
            use="imported" if own.functions is None else own.functions.use,
            starter=problem.starter_code.strip("\n") if has_starter else "",
            in_statement=[n for n in range(1, len(problem.public_tests) + 1) if n not in numbers],
            shown=[
                {
                    "number": number,
                    "input": test.input.strip("\n"),
                    "output": test.output.strip("\n"),
                    "shows_output": shows_output(problem.judge, test),
                }
                for number, test in further[:MOST_TESTS]
            ],
            left=max(0, len(further) - MOST_TESTS),
        )
