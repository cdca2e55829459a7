"""What must hold before solutions in a language are asked for or judged."""

from collections.abc import Iterable

from harness.errors import UsageError
from harness.languages import PYTHON
from harness.languages.known import language
from harness.languages.language import MissingCompilerError
from harness.problem import Kind, Problem


def check_language(name: str, problems: Iterable[Problem], *, timed: bool = False) -> None:
    """Check that solutions in a language can be judged.

    Args:
        name: name of the language.
        problems: the problems of the solutions.
        timed: whether right solutions are timed.

    Raises:
        UsageError: there is no compiler, or a problem does not take the language.
    """
    if name == PYTHON:
        return
    own = language(name)
    if timed:
        raise UsageError(f"efficiency is measured for Python only, and solutions are {own.title}")
    for problem in problems:
        reason = refusal(problem)
        if reason:
            raise UsageError(f"{problem.id} takes no {own.title} solution: {reason}")
    if own.compiler is not None:
        try:
            own.compiler()
        except MissingCompilerError as error:
            raise UsageError(str(error)) from error


def refusal(problem: Problem) -> str:
    """Return why a problem takes programs in Python only; empty where others can be judged."""
    if problem.kind is not Kind.CODE_GENERATION:
        return "it asks for a value of a Python call"
    if problem.checker is not None and problem.checker.tests is not None:
        return "its tests are Python code"
    if problem.entry_point is not None:
        return "it asks for a Python function, and only programs that read stdin are compiled"
    return ""


def compiler_words(name: str, flags: str = "") -> str:
    """Return the compiler's version and flags, for results; empty where there is none."""
    own = language(name)
    if own.compiler is None:
        return ""
    return f"{own.compiler().version}; {flags or own.flags}"
