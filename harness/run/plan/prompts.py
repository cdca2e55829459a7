"""The prompt set of a run: loaded, or kept by the run that goes on; its faults."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from harness.agent.problem_kind import ProblemKind
from harness.agent.templates.prompt_set import PromptSet, load_prompt
from harness.errors import UsageError
from harness.languages.starters import view_in
from harness.problem import Kind, Problem, ProblemView
from harness.registry import hooks
from harness.run.settings.spec import RunSpec

if TYPE_CHECKING:
    from harness.run.plan.plan import Plan

CHECKED = 20
"""Most problems for which a faulty prompt set is checked as a whole."""
SHOWN = 3
"""Most faults of a prompt set in an error."""


def prompt_of(
    spec: RunSpec,
    rules: ProblemKind,
    problems: Sequence[Problem],
    kept: Mapping[str, Any] | None,
) -> PromptSet:
    """Return the prompt set of a run.

    Args:
        spec: the run's spec.
        rules: rules of the problems' kind.
        problems: the run's problems.
        kept: the manifest of the run that goes on, or is played, in the same mode: it keeps its
            prompt set.

    Raises:
        UsageError: the set does not exist, or has faults.
    """
    same_mode = kept is not None and kept["spec"].get("mode", spec.mode) == spec.mode
    prompt = _kept(kept, rules.kind, rules.language) if kept and same_mode else None
    if prompt is not None:
        return prompt
    with _telling_all_faults(spec, problems):
        prompt = load_prompt(spec.prompt, spec.mode, rules.kind, rules.language)
    for changed in hooks("prompt", spec.features).values():
        prompt = changed(spec, prompt)
    return prompt


def check_plan(plan: "Plan") -> None:
    """Refuse templates that are broken, or fail for a problem. Raises UsageError."""
    with _telling_all_faults(plan.spec, plan.problems):
        for problem in plan.problems:
            cpu_s = plan.judging.limits(problem).cpu_s
            view = view_in(problem, plan.spec.language)
            for told in plan.openings:
                plan.prompt.render(view, cpu_s, plan.limits.turns, told)


def _kept(before: Mapping[str, Any], kind: Kind, language: str) -> PromptSet | None:
    """Return the prompt set that a run's manifest holds; None in a run of an older version."""
    kept = before["prompt"]
    parts = kept.get("parts")
    if not isinstance(parts, dict):
        return None
    of_parts = cast("dict[str, str]", parts)
    return PromptSet(name=kept["name"], parts=of_parts, kind=kind, language=language)


@contextmanager
def _telling_all_faults(spec: RunSpec, problems: Sequence[Problem]) -> Generator[None]:
    """Replace the error of a faulty prompt set by what `harness prompts check` says of it."""
    try:
        yield
    except UsageError as error:
        faults = _faults(spec, [view_in(each, spec.language) for each in problems[:CHECKED]])
        if not faults:
            raise
        more = f"; {len(faults) - SHOWN:,} more" if len(faults) > SHOWN else ""
        raise UsageError(
            f"prompt set {spec.prompt!r}: {'; '.join(faults[:SHOWN])}{more}; all of it: "
            f"harness prompts check {spec.prompt}"
        ) from error


def _faults(spec: RunSpec, views: Sequence[ProblemView]) -> list[str]:
    """Return the faults of a run's templates."""
    from harness.agent.templates.check import check_prompt

    with suppress(UsageError):  # it has nothing for the kind
        return [*map(str, check_prompt(spec.prompt, views, spec.mode).faults)]
    return []
