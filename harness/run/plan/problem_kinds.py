"""Rules of a run's kind of problem; settings and modes that do not fit it are refused.

All problems of a run, or of a file to grade, are of one kind: solve rates of different kinds are
not comparable, and a prompt set or an extraction of one kind does not fit another.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.agent.problem_kind import PROGRAMS, ProblemKind
from harness.agent.strategies.modes import LOOP, SHOT, Mode
from harness.errors import NothingSelectedError, UsageError
from harness.languages import PYTHON
from harness.problem import Kind, Problem
from harness.registry import PROBLEM_KINDS, hooks, resolve
from harness.run.settings.setting import is_said
from harness.run.settings.spec import SETTINGS, RunSpec, flag_of, known_keys
from harness.tools.run_code import RunCode
from harness.tools.submit import Submit
from harness.tools.toolbox import Tool, Toolbox
from harness.tools.workspace import Texts

if TYPE_CHECKING:
    from harness.run.plan.plan import Plan


def without_effect(rules: ProblemKind, *, runs_code: bool = False) -> frozenset[str]:
    """Return the settings that have no effect on problems of a kind.

    Args:
        rules: rules of the kind.
        runs_code: whether the model may run code, so that limits of programs have an effect.
    """
    if rules.runs_code:
        return frozenset()
    unused = {"tests"} if runs_code else {"tests", "programs"}
    return frozenset(key for key, setting in SETTINGS.items() if setting.needs in unused)


def rules_for(kind: Kind) -> ProblemKind:
    """Return the rules of a kind of problem, for solutions in Python."""
    return resolve(PROBLEM_KINDS[kind])


def rules_of(problems: Iterable[Problem], name: str = PYTHON) -> ProblemKind:
    """Return the rules for problems of one kind; code generation if there are none.

    Args:
        problems: the problems.
        name: language of solutions.

    Raises:
        UsageError: the problems are of several kinds.
    """
    first: Problem | None = None
    for problem in problems:
        first = first or problem
        if problem.kind is not first.kind:
            raise UsageError(
                f"{first.id} is a {rules_for(first.kind).words} problem and {problem.id} a "
                f"{rules_for(problem.kind).words} problem: take one kind at a time, by naming "
                "other files or the problems"
            )
    return in_language(rules_for(first.kind) if first else PROGRAMS, name)


def in_language(rules: ProblemKind, name: str) -> ProblemKind:
    """Return the rules of a kind of problem for solutions in a language."""
    return rules._replace(language=name) if rules.runs_code else rules


def toolbox_of(spec: RunSpec, usual: Sequence[Tool[Any]], texts: Texts) -> Toolbox:
    """Return the tools of a run: the usual, the requested, and the user's own ones.

    Args:
        spec: the run's spec.
        usual: tools of the kind of problem.
        texts: describes the built-in tools.

    Raises:
        UsageError: a user's object is not a tool, or its name is already taken.
    """
    from harness.agent.strategies.strategies import own_tool

    tools = list(usual)
    tools += [Submit()] * spec.submit_tool
    tools += [RunCode()] * spec.run_code_tool
    for further in hooks("tools", spec.features).values():
        tools += further(spec)
    for path in spec.tool:
        own = own_tool(path)
        if own.name in {tool.name for tool in tools}:
            raise UsageError(f"--tool {path}: there is a tool {own.name!r} already")
        tools += [own]
    return Toolbox(tools, texts, spec.language)


def check_plan(plan: "Plan") -> None:
    """Refuse problems that do not fit together with the settings. Raises UsageError."""
    check_mode(plan.rules, plan.spec.known_mode, runs_code=plan.spec.run_code_tool)
    check_written_tests(plan.problems, plan.spec.known_mode)
    if plan.spec.run_tests and plan.rules.runs_code:
        check_tested(plan.problems)
    plan.rules.extractor(plan.spec.extract, flag_of("extract"))


def check_mode(rules: ProblemKind, mode: Mode, *, runs_code: bool) -> None:
    """Refuse settings that do not fit a kind of problem.

    Args:
        rules: rules of the kind.
        mode: the mode; some need public tests, which only programs have.
        runs_code: whether the model may run code, which would give the answer in code execution.

    Raises:
        UsageError: says what to give instead.
    """
    if rules.given_away and runs_code:
        raise UsageError(
            f"--set run_code_tool: {rules.given_away}, so the tool would give it away; leave the "
            "tool out"
        )
    if not rules.runs_code and mode.declared and mode.runs_tests and not mode.tools:
        raise UsageError(
            f"--mode {mode.name} runs solutions on tests, and {rules.words} problems have "
            f"none; give {SHOT.name} or {LOOP.name}"
        )


def check_written_tests(problems: Iterable[Problem], mode: Mode) -> None:
    """Refuse problems that talk with the judge, for modes in which the model writes tests.

    Raises:
        UsageError: names the first such problem.
    """
    for problem in problems if mode.writes_tests else ():
        program = problem.checker.program if problem.checker is not None else None
        if program is not None and program.has_passes:
            raise UsageError(
                f"--mode {mode.name} has the model write tests, each an input and its output, and "
                f"{problem.id} is a dialogue with the judge, or has several passes; name other "
                "problems with -t, or give another mode"
            )


def check_tested(problems: Sequence[Problem]) -> None:
    """Refuse problems if none has a test: nothing could be graded.

    Raises:
        NothingSelectedError: says what to do.
    """
    if problems and not any(each.tests.public or each.tests.all() for each in problems):
        raise NothingSelectedError(
            "no problem that is selected has a test, so nothing could be graded "
            f"({len(problems):,} in all, the first {problems[0].id}); name problems with tests"
        )


def said_in(spec: RunSpec, before: Iterable[str] = ()) -> list[str]:
    """Return the keys given in a spec, without those a resumed run already had."""
    had = set(before)
    return [key for key in SETTINGS if key not in had and is_said(spec, key)]


def heeded_by_kind(rules: ProblemKind, spec: RunSpec, before: Mapping[str, Any] | None) -> RunSpec:
    """Return the spec without found settings that have no effect on a kind of problem.

    Args:
        rules: rules of the kind.
        spec: the run's spec.
        before: the manifest of a run to resume; earlier versions accepted more.

    Raises:
        UsageError: such a setting was given.
    """
    had = known_keys(before["spec"]) if before is not None else ()
    check_settings(rules, said_in(spec, had), runs_code=spec.run_code_tool)
    return spec.without_found(without_effect(rules, runs_code=spec.run_code_tool))


def check_settings(
    rules: ProblemKind, messages: Iterable[str], *, runs_code: bool = False, caller: str = ""
) -> None:
    """Refuse settings without effect on a kind of problem.

    Args:
        rules: rules of the kind.
        messages: the given keys.
        runs_code: whether the model may run code, so that limits of programs have an effect.
        caller: name of the Python function that received the keys; empty for flags and files.

    Raises:
        UsageError: names the first such setting.
    """
    unused = without_effect(rules, runs_code=runs_code)
    for key in messages:
        if key in unused:
            name = f"{caller}: {key}" if caller else flag_of(key)
            raise UsageError(
                f"{name}: {rules.words} problems ask for an answer, which is compared and "
                "not run; leave it out"
            )


def require_code_generation(problems: Iterable[Problem]) -> None:
    """Refuse problems that ask for a value, for a command that needs programs.

    Raises:
        UsageError: names the first such problem.
    """
    for problem in problems:
        if problem.call:
            raise UsageError(
                f"{problem.id} is a {rules_for(problem.kind).words} problem, which no program "
                "solves: leave it out, by naming other files or the other problems"
            )
