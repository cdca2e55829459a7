"""From a spec to a plan: the problems, the model, the prompt and the limits of a run."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from harness.agent.attempt import Attempt
from harness.agent.attempt import Limits as AgentLimits
from harness.agent.extraction.code import Extract
from harness.agent.problem_kind import ProblemKind
from harness.agent.session import Strategy
from harness.agent.strategies.options import StrategyOptions
from harness.agent.strategies.strategies import find_strategy
from harness.agent.templates.prompt_set import PromptSet, Told
from harness.agent.tool_calls import told_of
from harness.agent.tool_use import ToolUse
from harness.errors import UsageError
from harness.grading.jobs import Options
from harness.languages.known import language
from harness.models.function import FunctionModel
from harness.models.prices.price import cost
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import REPLAY_PREFIX
from harness.models.references import ReferenceModel
from harness.models.replay import ReplayModel
from harness.models.user_code import UserModel
from harness.problem import Problem
from harness.registry import PLAN_CHECKS, START_CHECKS, feature, installed
from harness.run.plan.judging_options import judging_of, reference_limits
from harness.run.plan.languages import check_language, left_out_words, taking
from harness.run.plan.problem_kinds import heeded_by_kind, rules_of, toolbox_of
from harness.run.plan.prompts import prompt_of
from harness.run.plan.recordings import BUNDLED
from harness.run.plan.run_part import RunPart
from harness.run.plan.target import BUNDLED_PROBLEMS, Target, heeded, price_of, resolve_target
from harness.run.settings.problem_settings import MOST_SAMPLES
from harness.run.settings.shard import Shard, Whole
from harness.run.settings.spec import RunSpec, flag_of, refuse_ineffective, uses
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded
from harness.sources.selection import Selected, Selection, select
from harness.tools.toolbox import Toolbox

SAMPLE = {"sample_size", "sampling", "seed"}
"""Criteria of a selection that take a sample of what the others leave."""


class Start(NamedTuple):
    """A run whose problems are not loaded yet.

    Attributes:
        spec: the settings.
        target: the resolved model.
        price: price of the model; None if unknown.
    """

    spec: RunSpec
    target: Target
    price: ListedPrice | None


@dataclass(frozen=True)
class Plan:
    """A resolved run; nothing has been requested or written yet.

    Attributes:
        target: the resolved model: its name, and its route if the harness sends requests.
        loaded: contents of the source, including skipped rows.
        selected: the selected problems.
        price: price of the model; None if unknown.
        rules: rules for the problems' kind.
        strategy: the strategy.
        toolbox: tools of the model, if the strategy uses tools.
        cpu_by_problem: CPU seconds of a test by problem, if derived from references.
        notice: line about limits or problems left out, shown before the run starts.
        left_out: number of problems that take no solution in the run's language, by reason.
        whole: the run that this one is a shard of; None if it is not a shard.
        to_the_end: problems whose solutions are judged on all tests, also after a failure.
        parts: what features do in the run, by their setting.
        code: digest of the user's own code as model; None if the model is not such code.
    """

    spec: RunSpec
    target: Target
    model: Model
    prompt: PromptSet
    loaded: Loaded
    selected: Selected
    price: ListedPrice | None
    rules: ProblemKind
    strategy: Strategy
    toolbox: Toolbox
    cpu_by_problem: Mapping[str, float] = field(default_factory=dict[str, float])
    notice: str | None = None
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    whole: Whole | None = None
    to_the_end: Collection[str] = ()
    parts: Mapping[str, RunPart] = field(default_factory=dict[str, RunPart])
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
        return self.spec.request_settings

    @cached_property
    def limits(self) -> AgentLimits:
        """Limits of one sample."""
        spec, mode = self.spec, self.spec.known_mode
        turns = spec.max_turns if mode.requests is None else mode.requests(self.options)[1]
        tool_calls, seconds = spec.max_tool_calls, spec.sample_timeout
        if self.target.agent is not None:
            tool_calls, seconds = self.target.agent.limits(spec)
        return AgentLimits(
            turns=turns,
            tool_calls=tool_calls or None,
            tokens=spec.max_tokens_per_sample,
            seconds=seconds or None,
            wall_seconds=spec.sample_wall_timeout,
        )

    @cached_property
    def openings(self) -> tuple[Told, ...]:
        """What a sample's first request may tell of tools, the usual one first."""
        if not uses(self.spec.mode, "tool_protocol"):
            return (Told(),)
        native = told_of(self.toolbox, native=True)
        in_text = told_of(self.toolbox, native=False)
        match self.spec.tool_protocol:
            case "native":
                return (native,)
            case "text":
                return (in_text,)
            case _:
                return native, in_text

    @property
    def grows(self) -> bool:
        """Whether the agent loop's conversation grows, rather than beginning anew."""
        context, native = self.spec.context, bool(self.openings[0].native)
        return native if context == "auto" else context == "grow"

    @cached_property
    def tool_use(self) -> ToolUse:
        """Whether samples begin with native tools; they share what is learnt of the endpoint."""
        return ToolUse(self.spec.tool_protocol)

    @cached_property
    def options(self) -> StrategyOptions:
        """Options of the strategy."""
        return StrategyOptions.of(self.spec)

    @cached_property
    def sample_facts(self) -> dict[str, Any]:
        """What the transcripts of all samples begin with."""
        mark = language(self.spec.language).mark
        return {
            "mode": self.spec.mode,
            **({"language": mark} if mark else {}),
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
        return judging_of(self.spec, self.cpu_by_problem, self.to_the_end)


def prepare(
    spec: RunSpec,
    environ: Mapping[str, str],
    before: Mapping[str, Any] | None = None,
    *,
    read: Callable[[str], Loaded] | None = None,
    own_model: Model | None = None,
    dry_run: bool = False,
) -> Plan:
    """Resolve a spec, the model first, so that a missing key is reported at once.

    Args:
        spec: the run's spec.
        environ: the environment, with keys and names.
        before: the manifest of a run to resume; None for a new run.
        read: loads the problems in place of `harness.sources.benchmarks.load`.
        own_model: model to use in place of the spec's, under the same name.
        dry_run: whether no request will be sent, so that no key is needed.

    Raises:
        UsageError: a model, prompt set or source does not exist, or the problems do not fit
            together or to the mode.
        DataError: a row does not match its schema.
        NothingSelectedError: no problem matches the filters.
    """
    refuse_ineffective(spec)
    target = resolve_target(spec, environ)
    spec = target.adapted(spec)
    price = price_of(target, spec, before)
    run_checks(START_CHECKS, Start(spec, target, price))
    strategy = find_strategy(spec.mode)
    model = own_model or target.open(dry_run=dry_run)
    spec = heeded(model, spec, new=before is None)
    loaded = (read or partial(load, skip_bad_rows=spec.skip_bad_rows))(_benchmark(spec))
    selected, whole, left_out = _select(_playable(loaded, spec, model), spec)
    rules = rules_of(selected.problems, spec.language)
    spec = heeded_by_kind(rules, spec, before)
    if isinstance(model, FunctionModel | ReferenceModel):
        model.begin(selected.problems, spec.language)
    code = None
    if isinstance(model, FunctionModel | UserModel) and target.plugin is None:
        code = model.code()
    prompt = prompt_of(spec, rules, selected.problems, before or target.recorded)
    plan = Plan(
        spec,
        target,
        model,
        prompt,
        loaded,
        selected,
        price,
        rules=rules,
        strategy=strategy,
        toolbox=toolbox_of(spec, rules.tools, prompt) if uses(spec.mode, "tool") else Toolbox(),
        whole=whole,
        code=code,
        notice=left_out_words(left_out, spec.language) if left_out else None,
        left_out=left_out,
    )
    plan = _with_reference_limits(plan, before)
    run_checks(PLAN_CHECKS, plan)
    return plan


def run_checks(checks: Mapping[str, str], subject: Start | Plan) -> None:
    """Run checks, each a function and a setting without which it is not imported.

    Raises:
        HarnessError: a check refuses the run.
    """
    for function, key in checks.items():
        if key and getattr(subject.spec, key):
            feature(function, flag_of(key))(subject)
        elif not key and (check := installed(function)) is not None:
            check(subject)


def _playable(loaded: Loaded, spec: RunSpec, model: Model) -> Loaded:
    """Return the problems to select from: for the bundled recordings, those with a recording.

    Problems that the user names by id are all kept.
    """
    if not isinstance(model, ReplayModel) or model.name != REPLAY_PREFIX + BUNDLED:
        return loaded
    if _benchmark(spec) != BUNDLED_PROBLEMS or spec.task:
        return loaded
    recorded = (problem for problem in loaded.problems if problem.id in model.problems)
    return loaded._replace(problems=tuple(recorded))


def _select(loaded: Loaded, spec: RunSpec) -> tuple[Selected, Whole | None, Counter[str]]:
    """Return the run's problems; for a shard, those of the whole run as well.

    Problems that take no solution in the run's language are left out, and counted by reason.

    Raises:
        UsageError: a problem that is asked for by its name takes no solution in the run's language.
    """
    selection = spec.selection()
    selected, left_out = select(loaded.problems, selection), Counter[str]()
    if language(spec.language).mark or any(problem.languages for problem in loaded.problems):
        every = select(loaded.problems, selection.model_copy(update={"sample_size": None})).problems
        if spec.task:
            check_language(spec.language, every, flags=spec.flags)
        kept, left_out = taking(every, spec.language)
        sample = Selection.model_validate(selection.model_dump(include=SAMPLE))
        selected = selected._replace(problems=select(kept, sample).problems, matched=len(kept))
    if spec.shard is None:
        return selected, None, left_out
    return Shard.read(spec.shard).among(selected), Whole.of(selected.problems), left_out


def check_plan(plan: Plan) -> None:
    """Refuse more samples than a run directory may hold. Raises UsageError."""
    samples = plan.spec.samples_per_problem
    problems = len(plan.problems) if plan.whole is None else plan.whole.problems
    if problems * samples > MOST_SAMPLES:
        raise UsageError(
            f"{problems:,} problems with {samples:,} samples each are {problems * samples:,} "
            f"samples; a run has at most {MOST_SAMPLES:,}: give a smaller -k or -n"
        )


def _benchmark(spec: RunSpec) -> str:
    return spec.benchmark or BUNDLED_PROBLEMS


def _with_reference_limits(plan: Plan, before: Mapping[str, Any] | None) -> Plan:
    """Return the plan with time limits derived from the references, if requested."""
    rule = plan.spec.test_timeout
    if not isinstance(rule, str):
        return plan
    where = _benchmark(plan.spec)
    limits, notice = reference_limits(rule, plan.problems, where, plan.judging, before)
    notice = "; ".join(filter(None, (plan.notice, notice))) or None
    return replace(plan, cpu_by_problem=limits, notice=notice)
