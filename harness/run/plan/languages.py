"""What must hold before solutions in a language are asked for or judged."""

import os
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from harness.agent.strategies.modes import SHOT, built_in_modes
from harness.errors import NothingSelectedError, UsageError
from harness.figures import count
from harness.languages import PYTHON
from harness.languages.functions import NoFunctionError
from harness.languages.known import LANGUAGES, language
from harness.languages.language import Language, MissingCompilerError
from harness.languages.starters import function_of
from harness.problem import Problem
from harness.run.settings.spec import RunSpec
from harness.sources.files.rows import Loaded

if TYPE_CHECKING:
    from harness.run.plan.plan import Plan, Start

TRIAL_S = 60
"""Seconds that the trial program may take to compile."""


def check_language(name: str, problems: Iterable[Problem], *, flags: str = "") -> None:
    """Check that solutions in a language can be judged.

    Args:
        name: name of the language.
        problems: the problems of the solutions.
        flags: the compiler's flags; empty for the usual ones.

    Raises:
        UsageError: there is no compiler, or a problem does not take the language.
    """
    own = language(name)
    functions = False
    for problem in problems:
        reason = refusal(problem, name)
        if reason:
            raise UsageError(f"{problem.id} takes no {own.title} solution: {reason}")
        functions |= problem.entry_point is not None
    check_compiler(own, flags, functions=functions)


def check_compiler(own: Language, flags: str = "", *, functions: bool = False) -> None:
    """Check that a program, or a function, can be compiled with some flags. Raises UsageError."""
    if own.compiler is None:
        return
    try:
        shlex.split(flags)
    except ValueError as error:
        what = f"the flags {flags!r:.100} of the {own.title} compiler cannot be read"
        raise UsageError(f"{what}: {error}") from error
    try:
        own.compiler()
        fault = _fault(own, flags or own.flags, functions=functions)
    except MissingCompilerError as error:
        raise UsageError(str(error)) from error
    if fault:
        raise UsageError(f"the {own.title} compiler fails with {flags or own.flags}: {fault}")


@cache
def _fault(own: Language, flags: str, *, functions: bool) -> str:
    """Return why the compiler makes no program of an example; empty if it does."""
    assert own.compiler is not None
    example = own.example
    if functions and (form := own.functions) is not None:
        before, after = form.around(form.example_function, everything=False)
        example = f"{before}{form.example}{after}"
    compiler = own.compiler()
    with TemporaryDirectory(prefix="harness-") as folder:
        (Path(folder) / own.source).write_text(example)
        try:
            done = subprocess.run(  # noqa: S603 - the user's own compiler and flags
                compiler.command(flags),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TRIAL_S,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        made = [
            path
            for path in Path(folder).iterdir()
            if path.name != own.source and os.access(path, os.X_OK)
        ]
    if done.returncode or not made:
        lines = done.stderr.strip().splitlines() if done.returncode else []
        lines = lines or [f"no program was made, and it ended with exit code {done.returncode}"]
        return next((line for line in lines if "error" in line), lines[-1])[:300]
    return ""


def check_language_of(caller: str, name: str, flags: str | None) -> None:
    """Check a language that a caller from Python gives. Raises UsageError."""
    if name not in LANGUAGES:
        raise UsageError(f"{caller}: language {name!r:.40}: give {' or '.join(LANGUAGES)}")
    if flags is not None and not language(name).is_compiled:
        raise UsageError(f"{caller}: cpp_flags goes with language 'cpp'")
    check_compiler(language(name), flags or "")


def check_start(start: "Start") -> None:
    """Check the language of a run's settings, and that recorded answers are in it.

    Raises:
        UsageError: says what to give.
    """
    check_settings_of(start.spec)
    if start.target.recordings is None:
        return
    own = (start.target.recorded or {}).get("spec", {}).get("language", PYTHON)
    if own != start.spec.language:
        answers = language(own)
        advice = "name a model with -m, or leave --language out"
        raise UsageError(
            f"--language {start.spec.language}: the answers of {start.target.name} are in "
            f"{answers.title}; {f'give --language {own}' if answers.mark else advice}"
        )


def check_plan(plan: "Plan") -> None:
    """Check that solutions of a run's problems can be judged. Raises UsageError."""
    check_language(plan.spec.language, plan.problems, flags=plan.spec.flags)


def check_settings_of(spec: RunSpec) -> None:
    """Refuse settings that cannot be combined with the language. Raises UsageError."""
    own = language(spec.language)
    if not own.is_compiled:
        return
    if spec.known_mode.python_only:
        others = [mode.name for mode in built_in_modes(asking=True) if not mode.python_only]
        *first, last = sorted(others, key=lambda name: name != SHOT.name)
        raise UsageError(
            f"--mode {spec.mode} has the model write tests in Python, and solutions are "
            f"{own.title}; give {', '.join(first)} or {last}"
        )
    check_compiler(own, spec.flags)


def taking(problems: Sequence[Problem], name: str) -> tuple[list[Problem], Counter[str]]:
    """Return the problems that take solutions in a language, and why others do not.

    Raises:
        NothingSelectedError: none does.
    """
    reasons = {problem.id: refusal(problem, name) for problem in problems}
    kept = [problem for problem in problems if not reasons[problem.id]]
    left_out = Counter(reason for reason in reasons.values() if reason)
    if not kept:
        raise NothingSelectedError(
            f"no problem that is selected takes a solution in {language(name).title}: "
            f"{_words(left_out)}"
        )
    return kept, left_out


def taken_by_all(
    reader: Callable[[RunSpec], Callable[[str], Loaded]],
    names: Collection[str],
    tell: Callable[[str], None],
) -> Callable[[RunSpec], Callable[[str], Loaded]]:
    """Return a reader of the problems that take solutions in each of several languages.

    Args:
        reader: the reader of all problems.
        names: names of the languages.
        tell: called with a line about the others, once.
    """
    warned: set[str] = set()

    def reading(spec: RunSpec) -> Callable[[str], Loaded]:
        read = reader(spec)

        def read_taken(where: str) -> Loaded:
            loaded = read(where)
            kept = loaded.problems
            for name in sorted(names):
                taken, left_out = taking(kept, name)
                kept = tuple(taken)
                if left_out and name not in warned:
                    warned.add(name)
                    tell(left_out_words(left_out, name))
            return loaded._replace(problems=kept)

        return read_taken

    return reading


def left_out_words(left_out: Counter[str], name: str) -> str:
    """Say how many problems take no solution in a language, and why."""
    number = left_out.total()
    takes = "takes" if number == 1 else "take"
    return (
        f"{count(number, 'problem')} left out, which {takes} no {language(name).title} solution: "
        f"{_words(left_out)}"
    )


def _words(left_out: Counter[str]) -> str:
    return "; ".join(f"{reason} ({number:,})" for reason, number in left_out.most_common())


def refusal(problem: Problem, name: str) -> str:
    """Return why a problem takes no program in a language; empty if it does."""
    if problem.languages and name not in problem.languages:
        only = " and ".join(language(each).title for each in problem.languages)
        return f"only {only} may be used"
    if not language(name).is_compiled:
        return ""
    if problem.call:
        return "it asks for a value of a Python call"
    if problem.checker is not None and problem.checker.tests is not None:
        return "its tests run as Python code"
    return "" if problem.entry_point is None else _refusal_of_function(problem, name)


def _refusal_of_function(problem: Problem, name: str) -> str:
    if problem.checker is not None and problem.checker.kind == "hooks":
        return "code in Python makes the arguments of its function"
    try:
        function = function_of(problem, name)
    except NoFunctionError as error:
        return str(error)
    compared = problem.checker is None
    for test in problem.tests.public:
        fault = function.fault(test.input, test.output, compared=compared)
        if fault:
            return f"a public test: {fault}"
    return ""


def compiler_words(name: str, flags: str = "") -> str:
    """Return the compiler's version and flags, for results; empty where there is none."""
    own = language(name)
    if own.compiler is None:
        return ""
    return f"{own.compiler().version}; {flags or own.flags}"
