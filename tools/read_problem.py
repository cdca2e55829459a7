"""`read_problem`: the statement, how the solution is run, and public tests."""

from harness.excerpts import shorten
from harness.languages import PYTHON
from harness.languages.known import language
from harness.problem import Codec, ProblemView, TestCase, shows_output
from harness.tools.further_tests import LONGEST_STATEMENT, LONGEST_TEST, further_tests
from harness.tools.toolbox import NoArguments
from harness.tools.workspace import Workspace

MOST_TESTS = 10
NEXT = (
    "Say in two or three sentences how to solve it. In the same message, call "
    "write_solution with the complete code, then run_tests."
)


TALKS = (
    "It talks with the judge through them: print what is asked for, flush stdout, and read the "
    "reply. "
)


class ReadProblem:
    """Shows the model all it may know about the problem."""

    name = "read_problem"
    description = (
        "Read the problem: its statement, how your solution will be run, its starter code if it "
        "has any, and the public tests."
    )
    arguments = NoArguments

    async def call(self, workspace: Workspace, arguments: NoArguments) -> str:
        """Return the problem as text."""
        del arguments
        problem = workspace.problem
        further = further_tests(problem)
        shown = further[:MOST_TESTS]
        left = len(further) - len(shown)
        return "\n\n".join(
            part
            for part in (
                f"# {problem.title}",
                shorten(problem.statement.strip(), LONGEST_STATEMENT),
                f"## How it is run\n\n{_how(workspace)}",
                _starter(problem, workspace.language),
                _examples(problem, {number for number, _ in further}),
                *(_test(problem, test, number) for number, test in shown),
                f"({left} more public tests are run but not shown.)" if left else "",
                NEXT if problem.public_tests and not workspace.revisions else "",
            )
            if part
        )


def _how(workspace: Workspace) -> str:
    problem, own = workspace.problem, language(workspace.language)
    limit = f"Each test may take {workspace.cpu_limit_s:g} seconds of CPU time. "
    if own.name == PYTHON:
        limit += "Python's standard library is at hand."
    else:
        limit += f"It is compiled with {workspace.flags or own.flags}."
    if problem.included:
        whole = "with the files named above it is a program that reads stdin and writes stdout"
        return f"The one {own.title} file that is asked for; {whole}. {limit}"
    if problem.entry_point is None:
        talks = TALKS if problem.judge == "dialogue" else ""
        return f"A complete {own.title} program that reads stdin and writes stdout. {talks}{limit}"
    use = "imported" if own.functions is None else own.functions.use
    in_place = problem.signature.result is Codec.FIRST_ARGUMENT
    task = "it must change its first argument in place" if in_place else "it must return its result"
    return f"Your code is {use} and `{problem.entry_point}` is called; {task}. {limit}"


def _starter(problem: ProblemView, name: str) -> str:
    if not problem.starter_code.strip() or (problem.entry_point is None and name != PYTHON):
        return ""
    code = problem.starter_code.rstrip()
    return (
        f"## Starter code (complete it, keeping its names and parameters)\n\n```{name}\n{code}\n```"
    )


def _examples(problem: ProblemView, further: set[int]) -> str:
    """Say which public tests are in the statement, and so not shown again."""
    numbers = [n for n in range(1, len(problem.public_tests) + 1) if n not in further]
    if not numbers:
        return ""
    words = ", ".join(map(str, numbers))
    if len(numbers) == 1:
        return f"Public test {words} is the example above."
    return f"Public tests {words} are the examples above."


def _test(problem: ProblemView, test: TestCase, number: int) -> str:
    given, wanted = (shorten(text.strip("\n"), LONGEST_TEST) for text in (test.input, test.output))
    talks = problem.judge == "dialogue"
    parts = [
        f"## Public test {number}\n",
        "The judge is given this, and your program is not:" if talks else "Input:",
        f"```\n{given}\n```",
    ]
    if shows_output(problem.judge, test):
        parts.append(f"Expected output:\n```\n{wanted}\n```")
    return "\n".join(parts)
