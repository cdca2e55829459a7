"""From a spec to a plan: the problems, the model, the prompt and the limits of a run."""

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import harness
from harness.agent.attempt import Limits as AgentLimits
from harness.agent.prompts import PromptSet, fallback_prompt, load_prompt
from harness.errors import RunDirectoryError, UsageError
from harness.grading.judge import STOPS
from harness.models.environment import MODEL_ID, Environment
from harness.models.price import ListedPrice
from harness.models.protocol import Model, ModelSettings
from harness.models.registry import open_model
from harness.models.tool_protocol import with_tools
from harness.problem import Problem
from harness.runs.batch_rules import check_batch
from harness.runs.judging import Options
from harness.runs.kinds import require_code_generation
from harness.runs.pricing import check_budget, price_of
from harness.runs.recordings import BUNDLED, PREFIX, open_replay
from harness.runs.spec import RunSpec
from harness.runs.verified_limits import (
    limits_before,
    reference_limits,
    stored_limits,
    without_reference,
)
from harness.sandbox.choice import Choice
from harness.sandbox.limits import MEBIBYTE
from harness.sources.registry import load
from harness.sources.rows import Loaded
from harness.sources.selection import Selected, select

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, resolved; nothing has been asked or written yet.

    Attributes:
        model_name: what the spec's model came to; `spec.model` may be None.
        loaded: what the source held, rows that were passed over among it.
        selected: what the selection left of it.
        price: of the model; None where it is unknown.
        fallback_prompt: of the agent loop, for a model that cannot call tools.
        cpu_by_problem: CPU seconds of a test, where they follow from a problem's references.
        notice: what is to be said of that before the run begins.
    """

    spec: RunSpec
    model_name: str
    model: Model
    prompt: PromptSet
    loaded: Loaded
    selected: Selected
    price: ListedPrice | None = None
    fallback_prompt: PromptSet | None = None
    cpu_by_problem: Mapping[str, float] = field(default_factory=dict[str, float])
    notice: str | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the run, in the data's order."""
        return self.selected.problems

    @property
    def samples(self) -> list[tuple[Problem, int]]:
        """Every sample: first one of each problem, then the second of each, and so on."""
        return [
            (problem, index)
            for index in range(self.spec.samples_per_problem)
            for problem in self.problems
        ]

    @property
    def settings(self) -> ModelSettings:
        """What is asked of the provider."""
        return ModelSettings(
            temperature=self.spec.temperature,
            max_tokens=self.spec.max_tokens,
            reasoning_effort=self.spec.reasoning_effort,
        )

    @property
    def limits(self) -> AgentLimits:
        """What one sample may use."""
        return AgentLimits(turns=self.spec.max_turns, seconds=self.spec.sample_timeout)

    @property
    def judging(self) -> Options:
        """How solutions are judged: each source's defaults under the spec's values."""
        spec = self.spec
        memory = None if spec.memory is None else spec.memory * MEBIBYTE
        return Options(
            cpu_s=spec.test_seconds,
            memory_bytes=memory,
            isolate=spec.isolate_tests,
            wall_s=spec.wall_timeout,
            stop=STOPS[spec.all_tests],
            cpu_by_problem=self.cpu_by_problem,
        )


def prepare(
    spec: RunSpec,
    environ: Mapping[str, str],
    before: Mapping[str, Any] | None = None,
    *,
    read: Callable[[str], Loaded] | None = None,
    vet: Callable[[Sequence[Problem]], tuple[Problem, ...]] = tuple,
) -> Plan:
    """Resolve a spec. The model comes first: a missing key is found before any data is read.

    Args:
        spec: of the run.
        environ: the environment, where keys and names may stand.
        before: the manifest of the run, where one goes on.
        read: loads the problems in place of `harness.sources.registry.load`.
        vet: checks the examples of what was selected (`harness.runs.vetting`), if it is graded.

    Raises:
        UsageError: a model, prompt set or source that is not there, or a problem that asks for
            something else than code.
        DataError: a row that is not as its schema says.
        NothingSelectedError: the filters left nothing.
    """
    if spec.mode == "agentic" and not spec.run_tests:
        raise UsageError("--no-run-tests goes with single shot: the agent loop is to run the tests")
    name = model_name(spec, environ)
    if spec.batch:
        check_batch(spec, name, environ)
    prompt = load_prompt(spec.prompt, spec.mode)
    fallback = fallback_prompt(spec.prompt) if spec.mode == "agentic" else None
    model = open_any_model(name, spec, environ)
    if spec.mode == "agentic" and not name.startswith(
        PREFIX
    ):  # a recording says itself what it was
        model = with_tools(model, spec.tool_protocol)
    price = price_of(name, spec, environ, before)
    check_budget(spec, name, price)
    read = read or partial(load, skip_bad_rows=spec.skip_bad_rows)
    loaded = read(_benchmark(spec))
    selected = select(loaded.problems, spec.selection())
    require_code_generation(selected.problems)
    if spec.run_tests:
        selected = replace(selected, problems=vet(selected.problems))
    plan = Plan(spec, name, model, prompt, loaded, selected, price, fallback)
    plan = with_reference_limits(plan, before)
    for problem in plan.problems:  # a template that is broken, or breaks on one, is found here
        for given in (prompt, fallback):
            if given is not None:
                given.render(problem.view(), plan.judging.limits(problem).cpu_s)
    return plan


def _benchmark(spec: RunSpec) -> str:
    return spec.benchmark or "fixture"


def with_reference_limits(plan: Plan, before: Mapping[str, Any] | None) -> Plan:
    """The plan with the limits of time that follow from its problems' references, if any shall.

    Args:
        plan: whose problems are as they will be judged: their hashes tell which verdicts count.
        before: the manifest of the run, where one goes on: its limits stay what they were.

    Raises:
        UsageError: no problem has a verified reference.
        RunDirectoryError: the manifest does not say the limits.
    """
    rule = plan.spec.test_timeout
    if not isinstance(rule, str):
        return plan
    if before is not None:
        return replace(plan, cpu_by_problem=limits_before(before))
    benchmark = _benchmark(plan.spec)
    limits = reference_limits(rule, plan.problems, benchmark, plan.judging)
    notice = without_reference(plan.problems, limits, benchmark)
    return replace(plan, cpu_by_problem=limits, notice=notice)


def model_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    """The model a spec means: its own, else the bundled recordings, else `MODEL_ID`.

    Raises:
        UsageError: it means none.
    """
    if spec.model is not None:
        return spec.model
    if spec.benchmark is None and spec.base_url is None:
        return PREFIX + BUNDLED
    named = Environment.read(environ).text(MODEL_ID)
    if named:
        return named
    raise UsageError("no model is named; give -m MODEL, or set MODEL_ID")


def open_any_model(name: str, spec: RunSpec, environ: Mapping[str, str]) -> Model:
    """The model of a name, recordings included, keys and addresses also from `.env`.

    Raises:
        UsageError: nobody serves the name, a key is missing, or a setting is not taken.
    """
    if name.startswith(PREFIX):
        return open_replay(name, spec.mode)
    return open_model(
        name,
        base_url=spec.base_url,
        environment=Environment.read(environ),
        settings=settings_of(spec),
    )


def settings_of(spec: RunSpec) -> ModelSettings:
    """What every request of a run asks for: the keys of the spec that are settings."""
    return ModelSettings(**{name: getattr(spec, name) for name in ModelSettings.model_fields})


def manifest(plan: Plan, choice: Choice) -> dict[str, Any]:
    """What `run.json` holds: all that defines the run, and what it ran on."""
    return {
        "schema": SCHEMA,
        "harness": harness.__version__,
        "git_revision": _git_revision(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "spec": _stored(plan),
        "price": plan.price.model_dump(mode="json") if plan.price else None,
        "prompt": {"name": plan.prompt.name, "hash": plan.prompt.hash},
        "data": [
            {"name": file.name, "sha256": file.sha256, "bytes": file.size}
            for file in plan.loaded.files
        ],
        "skipped_rows": [str(error) for error in plan.loaded.skipped],
        "problems": {problem.id: problem.content_hash for problem in plan.problems},
        "test_limits": _test_limits(plan),
        "sandbox": {
            "level": choice.isolation.level,
            "means": choice.isolation.means,
            "layers": choice.found.in_force,
            "why_no_stronger": choice.why,
        },
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "implementation": sys.implementation.name,
        },
    }


def _test_limits(plan: Plan) -> dict[str, dict[str, Any]]:
    """By source: what a test may use, and which problems have limits of CPU time of their own."""
    options = replace(plan.judging, cpu_by_problem={})
    by_source = {problem.source: options.limits(problem) for problem in plan.problems}
    own: dict[str, dict[str, Any]] = {}
    if isinstance(plan.spec.test_timeout, str):
        own = stored_limits(plan.problems, plan.spec.test_timeout, plan.judging)
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
    """The spec as it is kept: with the model's name, without what a URL may hold of secrets."""
    url = plan.spec.base_url
    if url is not None:
        parts = urlsplit(url)
        url = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    kept = plan.spec.model_copy(update={"model": plan.model_name, "base_url": url})
    return kept.model_dump(mode="json")


def check_same(plan: Plan, before: Mapping[str, Any]) -> None:
    """Refuse to continue a run whose prompt or problems are no longer what they were.

    Raises:
        RunDirectoryError: names what has changed.
    """
    if before["prompt"]["hash"] != plan.prompt.hash:
        raise RunDirectoryError(
            f"prompt set {plan.prompt.name!r} has changed since this run began; start a new run"
        )
    now = {problem.id: problem.content_hash for problem in plan.problems}
    for problem_id, content_hash in before["problems"].items():
        if now.get(problem_id) != content_hash:
            what = "has changed" if problem_id in now else "is no longer there"
            raise RunDirectoryError(f"{problem_id} {what} since this run began; start a new run")


def _git_revision() -> str | None:
    """The revision of the checkout that is running, if it is one."""
    root = Path(harness.__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 - fixed words
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
