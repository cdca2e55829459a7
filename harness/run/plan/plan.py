"""From a spec to a plan: the problems, the model, the prompt and the limits of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from harness.agent.attempt import Attempt, Strategy, StrategyOptions
from harness.agent.attempt import Limits as AgentLimits
from harness.agent.extraction.code import Extract
from harness.agent.strategies.external_names import BUILT_IN, EXTERNAL
from harness.agent.strategies.single_shot import single_shot
from harness.agent.strategies.strategy_names import find_strategy
from harness.agent.templates.prompt_set import PromptSet, fallback_prompt, load_prompt
from harness.errors import UsageError
from harness.grading.jobs import Options
from harness.grading.rules import find_rule
from harness.models.addresses import shown_url
from harness.models.prices import ListedPrice, cost
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import REFERENCES
from harness.models.route import Route
from harness.models.scripted import ReferenceModel
from harness.models.text_tools.tool_protocol import with_tools
from harness.problem import Kind, Problem
from harness.run.plan.judging_options import judging_of
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
from harness.run.plan.recordings import PREFIX, check_recorded
from harness.run.plan.reference_limits import limits_before, reference_limits, without_reference
from harness.run.plan.target import (
    model_name,
    open_any_model,
    refuse_unheeded,
    refuse_unsent,
    route_of,
    settings_of,
)
from harness.run.plan.toolset import earlier_solutions, toolbox_of
from harness.run.spec.shard import MOST_SAMPLES, Shard, Whole
from harness.run.spec.spec import RunSpec, known_keys
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded
from harness.sources.selection import Selected, select
from harness.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, resolved; nothing has been asked or written yet.

    Attributes:
        model_name: what the spec's model came to; `spec.model` may be None.
        loaded: what the source held, rows that were passed over among it.
        selected: what the selection left of it.
        price: of the model; None where it is unknown.
        fallback_prompt: of the agent loop, for a model that cannot call tools.
        rules: of the kind of problems that these are.
        strategy: how a solution is sought.
        toolbox: what the model may call, if the strategy lets it.
        earlier: solutions to be repaired, by the sample's name.
        endpoint: the address that requests go to; None where there is none.
        cpu_by_problem: CPU seconds of a test, where they follow from a problem's references.
        notice: what is to be said of that before the run begins.
        whole: what the problems are a shard of; None where they are all.
        route: where requests go; None where harness itself sends none.
    """

    spec: RunSpec
    model_name: str
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
    endpoint: str | None = None
    cpu_by_problem: Mapping[str, float] = field(default_factory=dict[str, float])
    notice: str | None = None
    whole: Whole | None = None
    route: Route | None = None

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
        return settings_of(self.spec)

    @property
    def limits(self) -> AgentLimits:
        """What one sample may use."""
        spec, ways = self.spec, self.ways
        needed = {"best_of_k_public": ways.best_of, "self_repair": 1 + ways.repair_rounds}
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

    @property
    def ways(self) -> StrategyOptions:
        """How the strategy is to work."""
        spec, usual = self.spec, StrategyOptions()
        return StrategyOptions(
            stop_on_pass=spec.stop_on_pass,
            repair_rounds=spec.repair_rounds or usual.repair_rounds,
            best_of=spec.best_of or usual.best_of,
            show_budget=spec.show_budget,
        )

    def cost(self, attempt: Attempt) -> float | None:
        """US dollars; None where the price or the usage is unknown."""
        return cost(attempt.usage if attempt.usage_known else None, self.price)

    @property
    def extract(self) -> Extract:
        """How a solution is found in a model's words."""
        return self.rules.extractor(self.spec.extract)

    @property
    def judging(self) -> Options:
        """How solutions are judged: each source's defaults under the spec's values."""
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
    """Resolve a spec. The model comes first: a missing key is found before any data is read.

    Args:
        spec: of the run.
        environ: the environment, where keys and names may stand.
        before: the manifest of the run, where one goes on.
        read: loads the problems in place of `harness.sources.benchmarks.load`.
        vet: checks the examples of what was selected (`harness.grading.example_check`), if it is
            graded.
        own_model: answers in place of the one that the spec names, and by the same name.
        dry_run: nothing will be asked, so no key is needed.

    Raises:
        UsageError: a model, prompt set or source that is not there, or problems that do not go
            together, or not with the mode.
        DataError: a row that is not as its schema says.
        NothingSelectedError: the filters left nothing.
    """
    _check_tests(spec)
    name = _checked_name(spec, environ)
    strategy = find_strategy(spec.mode)
    refuse_unsent(name, spec, environ)
    model = own_model or open_any_model(name, spec, environ, dry_run=dry_run)
    refuse_unheeded(model, spec, resumed=before is not None)
    calls = spec.mode == "agentic" or spec.mode not in BUILT_IN
    if calls and not name.startswith(PREFIX):  # a recording says itself what it was
        model = with_tools(model, spec.tool_protocol)
    price = price_of(name, spec, environ, before)
    check_budget(spec, name, price)
    read = read or partial(load, skip_bad_rows=spec.skip_bad_rows)
    loaded = read(_benchmark(spec))
    selected = select(loaded.problems, spec.selection())
    _check_size(len(selected.problems), spec.samples_per_problem)
    whole = None
    if spec.shard is not None:
        whole = Whole.of(selected.problems)
        selected = Shard.read(spec.shard).among(selected)
    route = None if own_model else route_of(name, spec, environ)
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
        name,
        model,
        load_prompt(spec.prompt, "agentic" if spec.mode in EXTERNAL else spec.mode, rules.kind),
        loaded,
        selected,
        price,
        fallback_prompt(spec.prompt, rules.kind) if calls else None,
        rules=rules,
        strategy=strategy,
        toolbox=toolbox_of(spec, rules.tools),
        endpoint=None if route is None else shown_url(route.base_url),
        whole=whole,
        route=route,
    )
    if name == REFERENCES:
        plan = replace(plan, model=ReferenceModel(plan.problems))
    rules.extractor(spec.extract)
    for rule in {spec.rule or problem.rule for problem in plan.problems}:
        find_rule(rule)
    plan = replace(plan, earlier=earlier_solutions(spec, plan.samples))
    plan = with_reference_limits(plan, before)
    for problem in plan.problems:  # a template that is broken, or breaks on one, is found here
        for given in (plan.prompt, plan.fallback_prompt):
            if given is not None:
                limits = plan.judging.limits(problem)
                given.render(problem.view(), limits.cpu_s, plan.limits.turns)
    return plan


def _checked_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    """Return the model's name once the mode and the transport take the spec. Raises UsageError."""
    if (mode := mode_of(spec)) is not None:
        mode.check(spec)
    name = model_name(spec, environ)
    if (transport := transport_of(spec)) is not None:
        transport.check(spec, name, environ)
    return name


def _check_size(problems: int, samples: int) -> None:
    """Refuse a run of more samples than a run directory may hold. Raises UsageError."""
    if problems * samples > MOST_SAMPLES:
        raise UsageError(
            f"{problems:,} problems with {samples:,} samples each are {problems * samples:,} "
            f"samples; a run has at most {MOST_SAMPLES:,}: give a smaller -k or -n"
        )


def _check_tests(spec: RunSpec) -> None:
    """Refuse to leave out tests that something is to be done with. Raises UsageError."""
    if spec.run_tests:
        return
    if spec.mode != "single_shot":
        raise UsageError(f"--no-run-tests goes with single shot: {spec.mode} runs the public tests")
    if spec.efficiency:
        raise UsageError("--efficiency times what passes the tests; leave out --no-run-tests")


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
