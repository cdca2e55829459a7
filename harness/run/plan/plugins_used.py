"""The plug-ins that a run uses, and those hidden by built-in names."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness import plugins
from harness.agent.strategies.external_names import BUILT_IN
from harness.grading.rules import RULES
from harness.models.model_names import is_sent
from harness.run.plan.plan import Plan
from harness.sources.benchmarks import parse_spec
from harness.sources.benchmarks import plugged as plugged_source


def in_use(plan: Plan) -> list[plugins.Plugin]:
    """Return the plug-ins of a run's problems, model, strategy and rules."""
    spec = plan.spec
    found = [plugged_source(parse_spec(spec.benchmark or "fixture").name)]
    found.append(plan.target.plugin)
    found += [_unless_ours(group, name) for group, name in _named(plan)]
    return [each for each in found if each is not None]


def stored(used: list[plugins.Plugin]) -> list[dict[str, Any]]:
    """Return plug-ins in the format of `run.json`."""
    return [asdict(each) for each in used]


def changed(plan: Plan, before: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield a line for each plug-in whose version changed since the run started.

    Args:
        plan: the run's plan.
        before: the manifest of a run to resume; older versions name no plug-ins in it.
    """
    try:
        then = TypeAdapter(list[plugins.Plugin]).validate_python((before or {}).get("plugins", []))
    except ValidationError:
        then = []
    versions = {(each.group, each.name): f"{each.package} {each.version}" for each in then}
    for each in in_use(plan):
        was = versions.get((each.group, each.name))
        if was not in {None, f"{each.package} {each.version}"}:
            yield f"{each.summary}: the run began with {was}"


def unused(plan: Plan) -> Iterator[str]:
    """Yield a line for each plug-in hidden by a built-in name that this run uses."""
    used = {(each.group, each.name) for each in in_use(plan)}
    names = [(plugins.SOURCES, parse_spec(plan.spec.benchmark or "fixture").name), *_named(plan)]
    if is_sent(plan.model_name):
        names.append((plugins.MODELS, plan.model_name.partition(":")[0]))
    return plugins.hidden(each for each in names if each not in used)


def _named(plan: Plan) -> Iterator[tuple[str, str]]:
    yield plugins.STRATEGIES, plan.spec.mode
    for rule in sorted({plan.spec.rule or problem.rule for problem in plan.problems}):
        yield plugins.RULES, rule


def _unless_ours(group: str, name: str) -> plugins.Plugin | None:
    ours = {plugins.STRATEGIES: BUILT_IN, plugins.RULES: RULES}[group]
    return None if name in ours else plugins.find(group, name)
