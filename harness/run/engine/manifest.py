"""`run.json`: everything that defines a run, and whether it may be resumed."""

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness import plugins
from harness.errors import RunDirectoryError
from harness.grading.jobs import Options
from harness.grading.rules import RULES
from harness.models.environment import name_of
from harness.models.providers import is_sent
from harness.models.route import shown_url
from harness.problem import Problem
from harness.processor import processor
from harness.registry import MODES
from harness.run.plan.judging_options import stored_limits
from harness.run.plan.plan import Plan
from harness.run.settings.shard import Shard
from harness.run.settings.spec import GROWING, RESUMABLE, RunSpec, uses
from harness.run.store.directory import OWN_MODE
from harness.run.store.pending import NOT_NEEDED
from harness.run.store.transcript import shared_parts
from harness.run.store.versions import git_revision, version_now, versions_after
from harness.sandbox.cores import usable_cores
from harness.sandbox.strongest import ChosenSandbox
from harness.sources.benchmarks import parse_spec
from harness.sources.benchmarks import plugged as plugged_source
from harness.version import __version__

SCHEMA = 1
DEFAULTS = RunSpec().model_dump(mode="json")
"""Values of keys that runs of older versions do not contain."""


def in_use(plan: Plan) -> list[plugins.Plugin]:
    """Return the plug-ins of a run's problems, model, strategy and rules."""
    spec = plan.spec
    used = [plugged_source(parse_spec(spec.benchmark or "fixture").name)]
    used.append(plan.target.plugin)
    used += [_unless_ours(group, name) for group, name in _named(plan)]
    return [each for each in used if each is not None]


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
    ours = {plugins.STRATEGIES: MODES, plugins.RULES: RULES}[group]
    return None if name in ours else plugins.find(group, name)


def manifest(plan: Plan, choice: ChosenSandbox) -> dict[str, Any]:
    """Return the contents of `run.json`: the run's definition and environment."""
    return {
        "schema": SCHEMA,
        **surroundings(choice),
        "spec": _stored(plan),
        "price": plan.price.model_dump(mode="json") if plan.price else None,
        "versions": [version_now(plan.spec.language)],
        **_code(plan),
        "prompt": {
            "name": plan.prompt.name,
            "hash": plan.prompt.hash,
            "parts": dict(plan.prompt.parts),
        },
        **_tools(plan),
        "transcripts": shared_parts(
            plan.sample_facts, _systems(plan), filter(None, [plan.prompt.advice])
        ),
        "plugins": stored(in_use(plan)),
        **(agent.facts(plan.spec) if (agent := plan.target.agent) else {}),
        **_mode(plan),
        "endpoint": plan.target.endpoint,
        "data": _data(plan),
        "skipped_rows": [str(error) for error in plan.loaded.skipped],
        **_left_out(plan),
        **_shard(plan),
        **_parts(plan),
        "problems": {problem.id: problem.content_hash for problem in plan.problems},
        "test_limits": test_limits(plan.problems, plan.spec.test_timeout, plan.judging),
    }


def _code(plan: Plan) -> dict[str, Any]:
    """Return the digest of the user's own code, if it is the model."""
    return {} if plan.code is None else {"model_code": dict(plan.code)}


def _mode(plan: Plan) -> dict[str, Any]:
    """Return what a user's own mode declares, so that the run can be read without it."""
    mode = plan.spec.known_mode
    return {} if mode.built_in or not mode.declared else {OWN_MODE: mode.as_json()}


def _tools(plan: Plan) -> dict[str, Any]:
    """Return the tools the model may call, if the mode has tools."""
    if not uses(plan.spec.mode, "tool"):
        return {}
    specs = plan.toolbox.specs
    return {
        "tools": {
            "name": ", ".join(spec.name for spec in specs),
            "hash": plan.toolbox.hash,
            "sent": [spec.model_dump(mode="json") for spec in specs]
            if any(told.native for told in plan.openings)
            else [],
        }
    }


def _systems(plan: Plan) -> list[str]:
    """Return the system messages that all samples share."""
    turns = plan.limits.turns
    found = (plan.prompt.shared_system(turns, told) for told in plan.openings)
    return [system for system in found if system is not None]


def _left_out(plan: Plan) -> dict[str, Any]:
    """Return the number of problems that take no solution in the run's language, if any."""
    return {"left_out": dict(plan.left_out)} if plan.left_out else {}


def _shard(plan: Plan) -> dict[str, Any]:
    """Return the shard, if the run is one."""
    if plan.spec.shard is None or plan.whole is None:
        return {}
    return {"shard": plan.whole.as_json(Shard.read(plan.spec.shard))}


def _parts(plan: Plan) -> dict[str, Any]:
    """Return what features keep of the run."""
    return {key: part.stored for key, part in plan.parts.items() if part.stored is not None}


def surroundings(choice: ChosenSandbox) -> dict[str, Any]:
    """Return the program, machine and sandbox, as stored in `run.json`."""
    return {
        "harness": __version__,
        "git_revision": git_revision(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "sandbox": {
            "level": choice.isolation.level,
            "means": choice.isolation.means,
            "layers": choice.findings.in_force,
            "why_no_stronger": choice.why,
        },
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "architecture": platform.machine(),
            "processor": processor(),
            "cores": usable_cores(),
            "python": platform.python_version(),
            "implementation": sys.implementation.name,
        },
    }


def _data(plan: Plan) -> list[dict[str, Any]]:
    """Return the files the problems come from."""
    return [
        {"name": file.name, "sha256": file.sha256, "bytes": file.size} for file in plan.loaded.files
    ]


def test_limits(
    problems: Sequence[Problem], rule: float | str | None, judging: Options
) -> dict[str, dict[str, Any]]:
    """Return each source's test limits, and problems with their own CPU time limits.

    Args:
        problems: the run's problems.
        rule: the spec's time limit, which may be `reference*FACTOR`.
        judging: options derived from the spec.
    """
    options = replace(judging, cpu_by_problem={})
    by_source = {problem.source: options.limits(problem) for problem in problems}
    own: dict[str, dict[str, Any]] = {}
    if isinstance(rule, str):
        own = stored_limits(problems, rule, judging)
    return {
        source: {
            "cpu_s": limits.cpu_s,
            "wall_s": limits.wall_s,
            "memory_bytes": limits.memory_bytes,
            "output_bytes": limits.output_bytes,
            **own.get(source, {}),
        }
        for source, limits in by_source.items()
    }


def _stored(plan: Plan) -> dict[str, Any]:
    """Return the spec to store: with the model's name, and no secrets in the URL."""
    url = plan.spec.base_url
    url = None if url is None else shown_url(url)
    kept = plan.spec.model_copy(update={"model": plan.model_name, "base_url": url})
    return kept.model_dump(mode="json")


def refuse_other_mode(mode: str, before: Mapping[str, Any]) -> None:
    """Refuse to resume a run in another mode, for which it holds no templates.

    Raises:
        RunDirectoryError: the run's mode is another one.
    """
    then = {**DEFAULTS, **before["spec"]}["mode"]
    if then != mode:
        raise _other("mode", then, mode)


def _other(key: str, then: object, now: object) -> RunDirectoryError:
    return RunDirectoryError(
        f"the run has {key} {then!r}, and not {now!r}: that is another run; choose another --out"
    )


def refuse_other(plan: Plan, before: Mapping[str, Any]) -> None:
    """Refuse to resume a run with a different definition: it may only grow.

    Args:
        plan: the plan requested now.
        before: the run's manifest.

    Raises:
        RunDirectoryError: names the first difference.
    """
    then, now = {**DEFAULTS, **before["spec"]}, _stored(plan)
    for key, value in now.items():
        if key in RESUMABLE or key in GROWING or key == "unsafe_no_sandbox":
            continue
        if uses(plan.spec.mode, key) and then[key] != value:
            raise _other(key, then[key], value)
    _refuse_other_headers(plan, then)
    if before.get("imported") is not None:
        raise RunDirectoryError(
            "the run was made by `harness import`, and asks no model; choose another --out"
        )
    if before.get("parent") is not None:
        raise RunDirectoryError(
            "the run was made by `harness grade`, and asks no model; go on with that command"
        )
    _refuse_other_words(plan, before)
    _refuse_lost(plan, before)
    _refuse_other_place(plan, before)


def _refuse_other_headers(plan: Plan, then: Mapping[str, Any]) -> None:
    """Refuse different header names; values may change, such as for a new key."""
    was = set(map(name_of, then.get("header", ())))
    now = set(map(name_of, plan.spec.header))
    if was != now:
        other = ", ".join(sorted(was ^ now))
        raise RunDirectoryError(
            f"the run was not asked with the same headers ({other}): that is another run; give "
            "another --out"
        )


def is_other_code(plan: Plan, before: Mapping[str, Any]) -> bool:
    """Whether the model is code of the user that has changed since the run began.

    Code is not compared with that of runs of older versions, which do not store it, or of another
    Python, which compiles it differently.
    """
    then, now = before.get("model_code"), plan.code
    if then is None or now is None or then.get("python") != now["python"]:
        return False
    return then.get("sha256") != now["sha256"]


def _refuse_other_words(plan: Plan, before: Mapping[str, Any]) -> None:
    if before["prompt"]["hash"] != plan.prompt.hash:
        raise RunDirectoryError(
            f"prompt set {plan.prompt.name!r} has changed since this run began; start a new run"
        )
    tools = before.get("tools")
    if tools is not None and tools != _tools(plan).get("tools"):
        raise RunDirectoryError(
            "what the model is told of its tools has changed since this run began; start a new run"
        )


def _refuse_lost(plan: Plan, before: Mapping[str, Any]) -> None:
    """Refuse if problems or samples of the run are missing or have changed."""
    now = {problem.id: problem.content_hash for problem in plan.problems}
    if plan.loaded.files and before.get("data") == [] and now.keys() - before["problems"].keys():
        raise RunDirectoryError(
            "the run's problems were given from Python, and the benchmark has others too: give "
            "them again, as benchmark=…, to the function that made the run"
        )
    for problem_id, content_hash in before["problems"].items():
        if now.get(problem_id) != content_hash:
            what = "has changed" if problem_id in now else "is no longer among the problems"
            if problem_id not in now and any(p.id == problem_id for p in plan.loaded.problems):
                raise RunDirectoryError(
                    f"this run has {problem_id}, which the selection now leaves out: a run may get "
                    "more problems, not fewer; select all that it has (-n, -t and filters), or "
                    "choose another --out"
                )
            raise RunDirectoryError(f"{problem_id} {what} since this run began; start a new run")
    samples = before["spec"]["samples_per_problem"]
    if plan.spec.samples_per_problem < samples:
        raise RunDirectoryError(
            f"the run has {samples} samples a problem; it can get more of them, and not fewer"
        )


def _refuse_other_place(plan: Plan, before: Mapping[str, Any]) -> None:
    """Refuse an address from the environment that differs; a flag may change it."""
    place = before.get("endpoint")
    if plan.spec.base_url is None and place is not None and place != plan.target.endpoint:
        raise RunDirectoryError(
            f"the run's model was reached at {place}, and would now be at {plan.target.endpoint}; "
            "go on there with --base-url"
        )


def grown(plan: Plan, before: Mapping[str, Any], *, works: bool = True) -> dict[str, Any]:
    """Return the updated manifest of a resumed run.

    Args:
        plan: the plan requested now.
        before: the run's manifest.
        works: whether any samples are to be done now.
    """
    stored, then = _stored(plan), before["spec"]
    spec = {**then, **{key: stored[key] for key in GROWING}}
    spec |= {key: stored[key] for key in ("price", "prices", "benchmark")}
    kept = {key: value for key, value in before.items() if key != NOT_NEEDED or not works}
    return {
        **kept,
        **({"versions": versions_after(before)} if works else {}),
        **(_code(plan) if is_other_code(plan, before) else {}),
        "spec": spec,
        "price": plan.price.model_dump(mode="json") if plan.price else before.get("price"),
        "data": _data(plan),
        "skipped_rows": [str(error) for error in plan.loaded.skipped],
        **_left_out(plan),
        **_shard(plan),
        **_parts(plan),
        "problems": {problem.id: problem.content_hash for problem in plan.problems},
        "test_limits": test_limits(plan.problems, plan.spec.test_timeout, plan.judging),
    }
