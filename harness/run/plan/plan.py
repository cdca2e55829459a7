"""From a spec to a plan: the problems, the model, the prompt and the limits of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from harness.agent.attempt import Attempt, Strategy, StrategyOptions
from harness.agent.attempt import Limits as AgentLimits
from harness.agent.extraction.code import Extract
from harness.agent.strategies import BUILT_IN, EXTERNAL
from harness.agent.strategies.baselines import single_shot
from harness.agent.strategies.strategies import find_strategy
from harness.agent.templates.prompt_set import PromptSet, fallback_prompt, load_prompt
from harness.errors import UsageError
from harness.grading.jobs import Options
from harness.grading.rules import find_rule
from harness.models.function import FunctionModel
from harness.models.prices import ListedPrice, cost
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import REFERENCES
from harness.models.scripted import ReferenceModel
from harness.models.text_tools.instructions import with_tools
from harness.models.user_code import UserModel
from harness.problem import Kind, Problem
from harness.run.plan.judging_options import (
    judging_of,
    limits_before,
    reference_limits,
    without_reference,
)
from harness.run.plan.modes import mode_of, transport_of
from harness.run.plan.pricing import check_budget, price_of
from harness.run.plan.problem_kinds import (
    RULES_OF,
    ProblemKind,
    check_mode,
    check_settings,
    check_tested,
    rules_of,
    said_in,
)
from harness.run.plan.target import (
    Target,
    check_recorded,
    open_target,
    refuse_unheeded,
    refuse_unsent,
    request_settings,
    resolve_target,
)
from harness.run.plan.toolset import earlier_solutions, toolbox_of
from harness.run.spec.problem_settings import MOST_SAMPLES, Shard, Whole
from harness.run.spec.spec import RunSpec, known_keys
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded
from harness.sources.selection import Selected, select
from harness.tools.toolbox import Toolbox


@dataclass(frozen=True)
class Plan:
    """A resolved run; nothing has been requested or written yet.

    Attributes:
        target: the resolved model: its name, and its route if the harness sends requests.
        loaded: contents of the source, including skipped rows.
        selected: the selected problems.
        price: price of the model; None if unknown.
        fallback_prompt: prompt of the agent loop for a model that cannot call tools.
        rules: rules for the problems' kind.
        strategy: the strategy.
        toolbox: tools of the model, if the strategy uses tools.
        earlier: solutions to repair, by sample name.
        cpu_by_problem: CPU seconds of a test by problem, if derived from references.
        notice: line about those limits, shown before the run starts.
        whole: the run that this one is a shard of; None if it is not a shard.
        code: digest of the user's own code as model; None if the model is not such code.
    """

    spec: RunSpec
    target: Target
    model: Model
    prompt: PromptSet
    loaded: Loaded
    selected: Selected
    price: ListedPrice | None = None
    fallback_prompt: PromptSet | None = None
    rules: ProblemKind = RULES_OF[Kind.CODE_GENERATION]
    strategy: Strategy = single_shot
    toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    earlier: Mapping[str, str] = field(default_factory=dict[str, str])
    cpu_by_problem: Mapping[str, float] = field(default_factory=dict[str, float])
    notice: str | None = None
    whole: Whole | None = None
    code: Mapping[str, str] | None = None

    @property
    def model_name(self) -> str:
        """Name of the model in the results."""
        return self.target.name

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the run, in the order of the data."""
        return self.selected.problems

    @property
    def samples(self) -> list[tuple[Problem, int]]:
        """All samples: the first of each problem, then the second of each, and so on."""
        return [
            (problem, index)
            for index in range(self.spec.samples_per_problem)
            for problem in self.problems
        ]

    @cached_property
    def settings(self) -> ModelSettings:
        """Settings of the requests to the provider."""
        return request_settings(self.spec)

    @cached_property
    def limits(self) -> AgentLimits:
        """Limits of one sample."""
        spec, options = self.spec, self.options
        needed = {"best_of_k_public": options.best_of, "self_repair": 1 + options.repair_rounds}
        needed |= dict.fromkeys(EXTERNAL, 0)
        mode = mode_of(spec)
        tool_calls, seconds = spec.max_tool_calls, spec.sample_timeout
        if mode is not None:
            tool_calls, seconds = mode.limits(spec)
        return AgentLimits(
            turns=needed.get(spec.mode, spec.max_turns),
            tool_calls=tool_calls or None,
            tokens=spec.max_tokens_per_sample,
            seconds=seconds or None,
            wall_seconds=spec.sample_wall_timeout,
        )

    @cached_property
    def options(self) -> StrategyOptions:
        """Options of the strategy."""
        spec, usual = self.spec, StrategyOptions()
        return StrategyOptions(
            stop_on_pass=spec.stop_on_pass,
            repair_rounds=spec.repair_rounds or usual.repair_rounds,
            best_of=spec.best_of or usual.best_of,
            show_budget=spec.show_budget,
        )

    @cached_property
    def sample_facts(self) -> dict[str, Any]:
        """What the transcripts of all samples begin with."""
        return {
            "mode": self.spec.mode,
            "model": self.model_name,
            "prompt": self.prompt.name,
            "prompt_hash": self.prompt.hash,
            "tools_hash": self.toolbox.hash,
            "settings": self.settings.model_dump(exclude_none=True),
            "limits": self.limits.model_dump(exclude_none=True),
        }

    def cost(self, attempt: Attempt) -> float | None:
        """Return the cost in US dollars; None if the price or the usage is unknown."""
        return cost(attempt.usage if attempt.usage_known else None, self.price)

    @cached_property
    def extract(self) -> Extract:
        """Function that finds a solution in a model's text."""
        return self.rules.extractor(self.spec.extract)

    @cached_property
    def judging(self) -> Options:
        """Options of grading: each source's defaults with the spec's values."""
        return judging_of(self.spec, self.cpu_by_problem)


def prepare(
    spec: RunSpec,
    environ: Mapping[str, str],
    before: Mapping[str, Any] | None = None,
    *,
    read: Callable[[str], Loaded] | None = None,
    vet: Callable[[Sequence[Problem]], tuple[Problem, ...]] = tuple,
    own_model: Model | None = None,
    dry_run: bool = False,
) -> Plan:
    """Resolve a spec, the model first, so that a missing key is reported at once.

    Args:
        spec: the run's spec.
        environ: the environment, with keys and names.
        before: the manifest of a run to resume; None for a new run.
        read: loads the problems in place of `harness.sources.benchmarks.load`.
        vet: checks the examples of the selected problems (`harness.grading.example_check`), if
            they are graded.
        own_model: model to use in place of the spec's, under the same name.
        dry_run: whether no request will be sent, so that no key is needed.

    Raises:
        UsageError: a model, prompt set or source does not exist, or the problems do not fit
            together or to the mode.
        DataError: a row does not match its schema.
        NothingSelectedError: no problem matches the filters.
    """
    _check_tests(spec)
    target = _target(spec, environ)
    strategy = find_strategy(spec.mode)
    model = own_model or open_target(target, spec, dry_run=dry_run)
    refuse_unheeded(model, spec, resumed=before is not None)
    is_own = isinstance(model, FunctionModel | UserModel)
    code = model.code() if is_own and target.server is None else None
    calls = spec.mode == "agentic" or spec.mode not in BUILT_IN
    if calls and not target.is_recorded:  # recordings already contain their protocol
        model = with_tools(model, spec.tool_protocol)
    price = price_of(target, spec, before)
    check_budget(spec, target.name, price)
    read = read or partial(load, skip_bad_rows=spec.skip_bad_rows)
    loaded = read(_benchmark(spec))
    selected = select(loaded.problems, spec.selection())
    _check_size(len(selected.problems), spec.samples_per_problem)
    whole = None
    if spec.shard is not None:
        whole = Whole.of(selected.problems)
        selected = Shard.read(spec.shard).among(selected)
    rules = rules_of(selected.problems)
    check_mode(rules, spec.mode, runs_code=spec.run_code_tool)
    had = known_keys(before["spec"]) if before is not None else ()
    check_settings(rules, said_in(spec, had), runs_code=spec.run_code_tool)
    check_recorded(model, [problem.id for problem in selected.problems], spec.samples_per_problem)
    if spec.run_tests and rules.runs_code:
        check_tested(selected.problems)
        selected = replace(selected, problems=vet(selected.problems))
    plan = Plan(
        spec,
        target,
        model,
        load_prompt(spec.prompt, "agentic" if spec.mode in EXTERNAL else spec.mode, rules.kind),
        loaded,
        selected,
        price,
        fallback_prompt(spec.prompt, rules.kind) if calls else None,
        rules=rules,
        strategy=strategy,
        toolbox=toolbox_of(spec, rules.tools),
        whole=whole,
        code=code,
    )
    if target.name == REFERENCES:
        plan = replace(plan, model=ReferenceModel(plan.problems))
    rules.extractor(spec.extract)
    for rule in {spec.rule or problem.rule for problem in plan.problems}:
        find_rule(rule)
    plan = replace(plan, earlier=earlier_solutions(spec, plan.samples))
    plan = with_reference_limits(plan, before)
    for problem in plan.problems:  # finds templates that are broken, or fail for a problem
        for given in (plan.prompt, plan.fallback_prompt):
            if given is not None:
                limits = plan.judging.limits(problem)
                given.render(problem.view(), limits.cpu_s, plan.limits.turns)
    return plan


def _target(spec: RunSpec, environ: Mapping[str, str]) -> Target:
    """Resolve the model, and refuse settings that do not go with it. Raises UsageError."""
    if (mode := mode_of(spec)) is not None:
        mode.check(spec)
    target = resolve_target(spec, environ)
    if (transport := transport_of(spec)) is not None:
        transport.check(spec, target.name, target.route)
    refuse_unsent(target, spec)
    return target


def _check_size(problems: int, samples: int) -> None:
    """Refuse more samples than a run directory may hold. Raises UsageError."""
    if problems * samples > MOST_SAMPLES:
        raise UsageError(
            f"{problems:,} problems with {samples:,} samples each are {problems * samples:,} "
            f"samples; a run has at most {MOST_SAMPLES:,}: give a smaller -k or -n"
        )


def _check_tests(spec: RunSpec) -> None:
    """Refuse to skip tests that another setting needs. Raises UsageError."""
    if spec.run_tests:
        return
    if spec.mode != "single_shot":
        raise UsageError(f"--no-run-tests goes with single shot: {spec.mode} runs the public tests")
    if spec.efficiency:
        raise UsageError("--efficiency times what passes the tests; leave out --no-run-tests")


def _benchmark(spec: RunSpec) -> str:
    return spec.benchmark or "fixture"


def with_reference_limits(plan: Plan, before: Mapping[str, Any] | None) -> Plan:
    """Return the plan with time limits derived from the references, if requested.

    Args:
        plan: a plan whose problems are final, since their hashes select the verdicts.
        before: the manifest of a run to resume, which keeps its limits; None for a new run.

    Raises:
        UsageError: no problem has a verified reference.
        RunDirectoryError: the manifest does not contain the limits.
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
