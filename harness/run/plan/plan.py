"""From a spec to a plan: the problems, the model, the prompt and the limits of a run."""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

from harness.agent.attempt import Attempt, Strategy
from harness.agent.attempt import Limits as AgentLimits
from harness.agent.extraction.code import Extract
from harness.agent.strategies.options import StrategyOptions
from harness.agent.strategies.shots import single_shot
from harness.agent.strategies.strategies import find_strategy
from harness.agent.templates.prompt_set import PromptSet, Told, load_prompt, with_wrong_test
from harness.agent.tool_calls import told_of
from harness.agent.tool_use import ToolUse
from harness.errors import RunDirectoryError, UsageError
from harness.grading.jobs import Options
from harness.grading.rules import find_rule
from harness.languages import PYTHON
from harness.languages.known import language
from harness.languages.starters import view_in
from harness.models.function import FunctionModel
from harness.models.prices.find_price import find_price
from harness.models.prices.price import PRICE_FACTOR, cost
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import REFERENCES, REPLAY_PREFIX
from harness.models.references import ReferenceModel
from harness.models.replay import ReplayModel
from harness.models.user_code import UserModel
from harness.problem import Kind, Problem, ProblemView
from harness.run.plan.impossible_tests import ImpossibleTests
from harness.run.plan.judging_options import judging_of, reference_limits
from harness.run.plan.languages import check_language, check_settings_of, left_out_words, taking
from harness.run.plan.problem_kinds import (
    RULES_OF,
    ProblemKind,
    check_mode,
    check_settings,
    check_tested,
    check_written_tests,
    rules_of,
    said_in,
    toolbox_of,
)
from harness.run.plan.target import (
    BUNDLED,
    BUNDLED_PROBLEMS,
    Target,
    as_recorded,
    check_target,
    heeded,
    open_target,
    resolve_target,
)
from harness.run.settings.problem_settings import MOST_SAMPLES
from harness.run.settings.shard import Shard, Whole
from harness.run.settings.spec import RunSpec, known_keys, refuse_ineffective, uses
from harness.run.store.changed_tests import changes_of
from harness.run.store.directory import MANIFEST, read_manifest
from harness.sources.benchmarks import load
from harness.sources.files.rows import Loaded
from harness.sources.selection import Selected, Selection, select
from harness.tools.toolbox import Toolbox

CHECKED = 20
"""Most problems for which a faulty prompt set is checked as a whole."""
SAMPLE = {"sample_size", "sampling", "seed"}
"""Criteria of a selection that take a sample of what the others leave."""
SHOWN = 3
"""Most faults of a prompt set in an error."""


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
        impossible: the impossible tests; None without `--impossible`.
        code: digest of the user's own code as model; None if the model is not such code.
    """

    spec: RunSpec
    target: Target
    model: Model
    prompt: PromptSet
    loaded: Loaded
    selected: Selected
    price: ListedPrice | None = None
    rules: ProblemKind = RULES_OF[Kind.CODE_GENERATION]
    strategy: Strategy = single_shot
    toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    cpu_by_problem: Mapping[str, float] = field(default_factory=dict[str, float])
    notice: str | None = None
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    whole: Whole | None = None
    impossible: ImpossibleTests | None = None
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
        return {
            "mode": self.spec.mode,
            **({} if self.spec.language == PYTHON else {"language": self.spec.language}),
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
        changed = self.impossible.changes if self.impossible else ()
        return judging_of(self.spec, self.cpu_by_problem, changed)


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
    _check_tests(spec)
    check_settings_of(spec)
    target = resolve_target(spec, environ)
    spec = check_target(target, spec)
    _check_recorded_language(spec, target)
    spec, recorded = as_recorded(spec, target)
    _check_impossible(spec, target)
    strategy = find_strategy(spec.mode)
    model = own_model or open_target(target, spec, dry_run=dry_run)
    spec = heeded(model, spec, new=before is None)
    _tell_language(model, spec.language)
    price = price_of(target, spec, before)
    _check_budget(spec, target.name, price)
    loaded = (read or partial(load, skip_bad_rows=spec.skip_bad_rows))(_benchmark(spec))
    selected, whole, left_out = _select(_playable(loaded, spec, model), spec)
    rules = rules_of(selected.problems, spec.language)
    check_mode(rules, spec.known_mode, runs_code=spec.run_code_tool)
    check_written_tests(selected.problems, spec.known_mode)
    had = known_keys(before["spec"]) if before is not None else ()
    check_settings(rules, said_in(spec, had), runs_code=spec.run_code_tool)
    spec = spec.without_found(rules.without_effect(runs_code=spec.run_code_tool))
    if isinstance(model, ReplayModel):
        model.check([problem.id for problem in selected.problems], spec.samples_per_problem)
    if spec.run_tests and rules.runs_code:
        check_tested(selected.problems)
    if target.name == REFERENCES:
        model = ReferenceModel(selected.problems, spec.language)
    code = None
    if isinstance(model, FunctionModel | UserModel) and target.server is None:
        code = model.code()
    kept = before or recorded
    same_mode = kept is not None and kept["spec"].get("mode", spec.mode) == spec.mode
    prompt = kept_prompt(kept, rules.kind, rules.language) if kept and same_mode else None
    if prompt is None:
        with _telling_all_faults(spec, selected.problems):
            prompt = load_prompt(spec.prompt, spec.mode, rules.kind, rules.language)
        prompt = with_wrong_test(prompt) if spec.impossible_exit else prompt
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
    rules.extractor(spec.extract)
    for rule in set(map(plan.judging.rule_of, plan.problems)):
        find_rule(rule)
    plan = _with_reference_limits(plan, before)
    with _telling_all_faults(spec, plan.problems):
        for problem in plan.problems:  # finds templates that are broken, or fail for a problem
            cpu_s = plan.judging.limits(problem).cpu_s
            view = view_in(problem, spec.language)
            for told in plan.openings:
                plan.prompt.render(view, cpu_s, plan.limits.turns, told)
    return plan


def _tell_language(model: Model, name: str) -> None:
    """Tell a function that answers without a fence in which language it does."""
    if isinstance(model, FunctionModel):
        model.tag = name


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


def price_of(
    target: Target, spec: RunSpec, before: Mapping[str, Any] | None = None
) -> ListedPrice | None:
    """Return the price of a run's model, half of it in batch mode; None if unknown.

    Args:
        target: the run's model.
        spec: the run's spec, whose price wins, then its list, then the bundled list.
        before: the manifest of a run to resume, which keeps its price; None for a new run.

    Raises:
        UsageError: the list cannot be read.
        RunDirectoryError: the manifest's price is invalid, or another one is given now.
    """
    if before is not None and before.get("price") is not None:
        return _kept_price(before, spec)
    if spec.price is not None:
        price = ListedPrice(**spec.price.model_dump())
    else:
        asked = {"prices": spec.prices, "service_tier": spec.service_tier}
        price = find_price(target.name, target.route, **asked)
    return price.times(PRICE_FACTOR) if price is not None and spec.batch else price


def _kept_price(before: Mapping[str, Any], spec: RunSpec) -> ListedPrice:
    now = spec.model_dump(mode="json", include={"price", "prices"})
    if any(before["spec"].get(key) != value for key, value in now.items()):
        raise RunDirectoryError("a run keeps the price it began with; leave --price[s] out")
    try:
        return ListedPrice.model_validate(before["price"])
    except ValueError as error:
        raise RunDirectoryError("run.json: the price is invalid; start a new run") from error


def _check_budget(spec: RunSpec, name: str, price: ListedPrice | None) -> None:
    """Refuse a budget in dollars if the price is unknown. Raises UsageError."""
    given = {"--max-cost": spec.max_cost, "--max-cost-per-sample": spec.max_cost_per_sample}
    flag = next((flag for flag, limit in given.items() if limit is not None), None)
    if flag is not None and price is None:
        raise UsageError(
            f"{flag} cannot be kept: what {name[:100]} costs is unknown; give --price IN,OUT in US "
            "dollars per million tokens, a list with --prices FILE, or --max-tokens-total instead"
        )


def _playable(loaded: Loaded, spec: RunSpec, model: Model) -> Loaded:
    """Return the problems to select from: for the bundled recordings, those with a recording.

    Problems that the user names by id are all kept.
    """
    if not isinstance(model, ReplayModel) or model.name != REPLAY_PREFIX + BUNDLED:
        return loaded
    if _benchmark(spec) != BUNDLED_PROBLEMS or spec.task:
        return loaded
    recorded = (problem for problem in loaded.problems if problem.id in model.problems)
    return replace(loaded, problems=tuple(recorded))


def _select(loaded: Loaded, spec: RunSpec) -> tuple[Selected, Whole | None, Counter[str]]:
    """Return the run's problems; for a shard, those of the whole run as well.

    Problems that take no solution in the run's language are left out, and counted by reason.

    Raises:
        UsageError: they are more samples than a run directory may hold, or a problem that is asked
            for by its name takes no solution in the run's language.
    """
    selection = spec.selection()
    selected, left_out = select(loaded.problems, selection), Counter[str]()
    if spec.language != PYTHON or any(problem.languages for problem in loaded.problems):
        every = select(loaded.problems, selection.model_copy(update={"sample_size": None})).problems
        if spec.task:
            check_language(spec.language, every, flags=spec.cpp_flags or "")
        kept, left_out = taking(every, spec.language)
        sample = Selection.model_validate(selection.model_dump(include=SAMPLE))
        selected = replace(selected, problems=select(kept, sample).problems, matched=len(kept))
        check_language(spec.language, selected.problems, flags=spec.cpp_flags or "")
    problems, samples = len(selected.problems), spec.samples_per_problem
    if problems * samples > MOST_SAMPLES:
        raise UsageError(
            f"{problems:,} problems with {samples:,} samples each are {problems * samples:,} "
            f"samples; a run has at most {MOST_SAMPLES:,}: give a smaller -k or -n"
        )
    if spec.shard is None:
        return selected, None, left_out
    return Shard.read(spec.shard).among(selected), Whole.of(selected.problems), left_out


def kept_prompt(before: Mapping[str, Any], kind: Kind, language: str) -> PromptSet | None:
    """Return the prompt set that a run's manifest holds; None in a run of an older version."""
    kept = before["prompt"]
    parts = kept.get("parts")
    if not isinstance(parts, dict):
        return None
    of_parts = cast("dict[str, str]", parts)
    return PromptSet(name=kept["name"], parts=of_parts, kind=kind, language=language)


def _check_tests(spec: RunSpec) -> None:
    """Refuse to skip tests that another setting needs. Raises UsageError."""
    if spec.efficiency and not spec.run_tests:
        raise UsageError("--efficiency times what passes the tests; leave out --no-run-tests")


def _recorded_manifest(target: Target) -> Mapping[str, Any]:
    """Return the manifest of the run whose answers are played; empty if they are of no run."""
    recorded = Path(target.name.removeprefix(REPLAY_PREFIX))
    is_run = target.name != REPLAY_PREFIX + BUNDLED and (recorded / MANIFEST).is_file()
    return read_manifest(recorded) if is_run else {}


def _check_recorded_language(spec: RunSpec, target: Target) -> None:
    """Refuse to judge recorded answers in another language than theirs. Raises UsageError."""
    if not target.is_recorded:
        return
    own = _recorded_manifest(target).get("spec", {}).get("language", PYTHON)
    if own != spec.language:
        title = language(own).title
        advice = "name a model with -m, or leave --language out"
        advice = advice if own == PYTHON else f"give --language {own}"
        raise UsageError(
            f"--language {spec.language}: the answers of {target.name} are in {title}; {advice}"
        )


def _check_impossible(spec: RunSpec, target: Target) -> None:
    """Refuse recorded answers to other tests: to impossible ones, or to unchanged ones.

    Raises:
        UsageError, RunDirectoryError: says what to give.
    """
    if not target.is_recorded:
        return
    is_impossible = bool(changes_of(_recorded_manifest(target)))
    if spec.impossible is not None and not is_impossible:
        raise UsageError(
            f"--impossible: the answers of {target.name} were given to unchanged tests; give a "
            "model with -m"
        )
    if spec.impossible is None and is_impossible:
        raise UsageError(
            f"{target.name} had impossible tests: give --impossible SHARE, to play it with them"
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
