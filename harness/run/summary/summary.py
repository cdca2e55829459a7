"""`summary.json`: a summary derived from the results, which can be made again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import fmean
from typing import Protocol

from pydantic import Field

from harness.agent.attempt import ChosenBy
from harness.efficiency.efficiency_summary import EfficiencySummary, summarize_efficiency
from harness.grading.verdict import JudgedAgain
from harness.models.protocol import Frozen, Usage
from harness.run.store.results import SampleResult
from harness.run.summary.iteration import Curve, curve_of
from harness.stats.curves import mean_by_problem, solved_per
from harness.stats.pass_at_k import Counts, OfSeveral, of_several
from harness.stats.rates import Rate, rate_by_problem

SCHEMA = 1
AGENTS = {True: "kept_from_the_data", False: "not_kept_from_the_data"}


class Outcome(Protocol):
    """The facts of a sample that a rate needs."""

    @property
    def problem_id(self) -> str: ...  # noqa: D102
    @property
    def graded(self) -> bool: ...  # noqa: D102
    @property
    def solved(self) -> bool: ...  # noqa: D102


class Stopped(Frozen):
    """Why a run stopped early: a limit of the run, and details.

    `reason` is one of `harness.agent.attempt.RunStop`, or `decided` if an experiment needed no
    more samples.
    """

    reason: str
    cause: str = ""


class Summary(Frozen):
    """A run in numbers.

    Attributes:
        planned: planned samples. `graded` of them count in rates, `ungraded` had no tests or were
            not to be run, `pending` are missing, by reason.
        pass_at_1: rate over all graded problems; `with_hidden` over those with hidden tests,
            `without_known_issues` over those not known to be judged wrongly.
        fallback: samples in which the model did not call tools, so that it was asked without.
        without_fallback: the rate without these; None if there are none.
        tool_protocols: number of samples by tool protocol, if known.
        refused: samples that the model, or the provider's filter, refused to continue.
        cut_off: answers that ended at the token limit; `cut_off_samples` is the number of samples
            with such answers, `max_tokens` the run's limit, None if not set.
        nudges: reminders by the agent loop after messages without a tool call.
        of_several: pass@k and pass^k, with several samples per problem.
        mean_fraction: mean over problems of the fraction of tests passed, if known.
        passed_public, overfit: samples of problems with hidden tests that passed all public tests,
            and those of them that failed a hidden one; `overfit_rate` is the mean over problems of
            the latter's fraction.
        no_hidden: problems known to have no hidden tests.
        cost: US dollars; None if any sample's cost is unknown. `prices_as_of` is the date of the
            price list; None if prices were given, or are unknown.
        usage_unknown: samples whose provider reported no tokens.
        isolation: number of samples by sandbox level.
        well_formed_tool_calls: fraction of tool calls that could be parsed; None without calls.
        solved_per_1000_tokens, solved_per_dollar: solved samples per amount used by all graded
            ones; None if any amount is unknown, or nothing was spent.
        agents: samples of a user's own agents, by whether they were isolated from hidden tests.
        curve: effect of iterating; None if no sample is graded, or all are older than steps.
        efficiency: efficiency of the solutions; None if it was measured for no sample.
        judged_again: what was run more than once.
        by_source_rule: `pass_at_1` by the sources' own rules, as used in upstream's leaderboards;
            None if no checker replaces a source's rule.
        stopped: why the last invocation stopped early; None if it did not, or the summary was made
            again from the results.
        unheard: requests whose answer was lost to a limit, an interrupt or a kill; their tokens
            are in no total.
    """

    schema_version: int = SCHEMA
    problems: int
    planned: int
    graded: int
    ungraded: int
    pending: dict[str, int]
    pass_at_1: Rate | None
    with_hidden: Rate | None
    without_known_issues: Rate | None
    of_several: tuple[OfSeveral, ...] = ()
    mean_fraction: float | None
    passed_public: int
    overfit: int
    no_hidden: int
    by_difficulty: dict[str, Rate]
    by_platform: dict[str, Rate]
    verdicts: dict[str, int]
    isolation: dict[str, int]
    stop_reasons: dict[str, int]
    usage: Usage
    usage_unknown: int
    cost: float | None
    prices_as_of: str | None = None
    model_calls: int
    tool_calls: int
    malformed_tool_calls: int
    salvaged: int
    fallback: int = 0
    without_fallback: Rate | None = None
    tool_protocols: dict[str, int] = Field(default_factory=dict[str, int])
    refused: int = 0
    nudges: int = 0
    cut_off: int = 0
    cut_off_samples: int = 0
    max_tokens: int | None = None
    overfit_rate: Rate | None = None
    well_formed_tool_calls: float | None = None
    agents: dict[str, int] = Field(default_factory=dict[str, int])
    solved_per_1000_tokens: float | None = None
    solved_per_dollar: float | None = None
    curve: Curve | None = None
    efficiency: EfficiencySummary | None = None
    judged_again: JudgedAgain
    by_source_rule: Rate | None = None
    stopped: Stopped | None = None
    unheard: int = 0


def summarize(
    results: Iterable[SampleResult],
    planned: int,
    failures: Mapping[str, int] | None = None,
    *,
    prices_as_of: str | None = None,
    stopped: Stopped | None = None,
    unheard: int = 0,
    max_tokens: int | None = None,
) -> Summary:
    """Summarize a run.

    Args:
        results: the committed samples.
        planned: number of planned samples.
        failures: samples stopped by infrastructure in this process, by verdict.
        prices_as_of: the date of the prices.
        stopped: why this process stopped early.
        unheard: number of requests of pending samples whose answer was lost.
        max_tokens: the run's token limit of one answer.
    """
    done = list(results)
    graded = [result for result in done if result.graded]
    hidden = [result for result in graded if result.hidden_total]
    sound = [result for result in graded if not result.known_issues]
    by_tools = [result for result in graded if not result.fallback]
    solved = sum(result.solved for result in graded)
    calls, malformed = (sum(r.tool_calls for r in done), sum(r.malformed_tool_calls for r in done))
    failed = dict(failures or {})
    not_run = planned - len(done) - sum(failed.values())
    return Summary(
        problems=len({result.problem_id for result in done}),
        planned=planned,
        graded=len(graded),
        ungraded=len(done) - len(graded),
        pending={**failed, **({"not_run": not_run} if not_run > 0 else {})},
        pass_at_1=rate_of(graded),
        with_hidden=rate_of(hidden),
        without_known_issues=rate_of(sound) if len(sound) < len(graded) else None,
        of_several=of_several([*solved_counts(graded).values()]),
        mean_fraction=_mean_fraction(graded),
        passed_public=sum(r.passed_public for r in hidden),
        overfit=sum(r.overfit for r in hidden),
        no_hidden=len({r.problem_id for r in graded if r.public_total and not r.hidden_total}),
        by_difficulty=_grouped(graded, lambda r: r.difficulty or "unknown"),
        by_platform=_grouped(graded, lambda r: r.platform),
        verdicts=counted(r.verdict for r in done),
        isolation=counted(r.isolation for r in done if r.isolation),
        stop_reasons=counted(r.stop_reason for r in done),
        usage=_total_usage(done),
        usage_unknown=sum(r.usage is None for r in done),
        cost=_total_cost(done),
        prices_as_of=prices_as_of,
        model_calls=sum(r.model_calls for r in done),
        tool_calls=calls,
        malformed_tool_calls=malformed,
        salvaged=sum(r.chosen_by is ChosenBy.PROSE for r in done),
        fallback=sum(r.fallback for r in done),
        without_fallback=rate_of(by_tools) if len(by_tools) < len(graded) else None,
        tool_protocols=counted(r.tool_protocol for r in done if r.tool_protocol),
        refused=sum(r.refused for r in done),
        nudges=sum(r.nudges for r in done),
        cut_off=sum(r.cut_off for r in done),
        cut_off_samples=sum(r.cut_off > 0 for r in done),
        max_tokens=max_tokens,
        agents=counted(AGENTS[r.confined] for r in done if r.confined is not None),
        overfit_rate=_overfit_rate(hidden),
        well_formed_tool_calls=1 - malformed / calls if calls else None,
        solved_per_1000_tokens=solved_per(solved, _known_tokens(graded), 1_000),
        solved_per_dollar=solved_per(solved, _total_cost(graded)),
        curve=curve_of(graded),
        efficiency=summarize_efficiency(graded),
        judged_again=_judged_again(done),
        by_source_rule=rate_by_source_rule(graded),
        stopped=stopped,
        unheard=unheard + sum(r.unheard for r in done),
    )


def solved_fractions(results: Iterable[Outcome]) -> dict[str, float]:
    """Return the solved fraction of each problem's graded samples, by problem id."""
    return mean_by_problem((r.problem_id, float(r.solved)) for r in results if r.graded)


def solved_counts(results: Iterable[Outcome]) -> dict[str, Counts]:
    """Return the number of graded and of solved samples, by problem id."""
    counts: dict[str, Counts] = {}
    for result in results:
        if result.graded:
            samples, solved = counts.get(result.problem_id, (0, 0))
            counts[result.problem_id] = samples + 1, solved + result.solved
    return counts


def _mean_fraction(graded: Iterable[SampleResult]) -> float | None:
    """Return the mean fraction of tests passed, where test counts are known."""
    known = ((r.problem_id, r.fraction) for r in graded if r.public_total + r.hidden_total)
    by_problem = mean_by_problem(known)
    return fmean(by_problem.values()) if by_problem else None


def rate_of(results: Iterable[Outcome]) -> Rate | None:
    """Return pass@1 of some results, with its interval."""
    return rate_by_problem((r.problem_id, float(r.solved)) for r in results if r.graded)


class RuledOutcome(Outcome, Protocol):
    """An outcome with a verdict by the source's own rule."""

    @property
    def solved_by_rule(self) -> bool | None: ...  # noqa: D102


def rate_by_source_rule(graded: Sequence[RuledOutcome]) -> Rate | None:
    """Return pass@1 by the sources' own rules; None if those graded all results."""
    if all(result.solved_by_rule is None for result in graded):
        return None
    solved = (
        (r.problem_id, r.solved if r.solved_by_rule is None else r.solved_by_rule) for r in graded
    )
    return rate_by_problem((name, float(right)) for name, right in solved)


def _overfit_rate(hidden: Iterable[SampleResult]) -> Rate | None:
    return rate_by_problem((r.problem_id, float(r.overfit)) for r in hidden if r.passed_public)


def _grouped(
    results: Sequence[SampleResult], key: Callable[[SampleResult], str]
) -> dict[str, Rate]:
    order = ("easy", "medium", "hard", "unknown")
    names = {key(result) for result in results}
    ranked = sorted(names, key=lambda name: (order.index(name) if name in order else -1, name))
    rates = ((name, rate_of(r for r in results if key(r) == name)) for name in ranked)
    return {name: value for name, value in rates if value is not None}


def counted(words: Iterable[str]) -> dict[str, int]:
    """Count how often each word occurs, the most frequent first."""
    counts = sorted(Counter(map(str, words)).items(), key=lambda item: (-item[1], item[0]))
    return dict(counts)


def _total_usage(results: Iterable[SampleResult]) -> Usage:
    known = [result.usage for result in results if result.usage is not None]
    return Usage(**{kind: sum(map(attrgetter(kind), known)) for kind in Usage.model_fields})


def _judged_again(results: Iterable[SampleResult]) -> JudgedAgain:
    """Add up what was run more than once; for most samples that is nothing."""
    nothing = JudgedAgain()
    told = (r.judged_again for r in results if vars(r.judged_again) != vars(nothing))
    return sum(told, nothing)


def _known_tokens(results: Sequence[SampleResult]) -> int | None:
    """Return the tokens of all samples; None if unknown for any."""
    usages = [result.usage for result in results]
    known = [usage.total_tokens for usage in usages if usage is not None]
    return sum(known) if len(known) == len(usages) else None


def _total_cost(results: Sequence[SampleResult]) -> float | None:
    costs = [result.cost for result in results]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
