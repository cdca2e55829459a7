"""`summary.json`: what the results come to. Derived from them, and made again at will."""

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
    """What a rate is made of."""

    @property
    def problem_id(self) -> str: ...  # noqa: D102
    @property
    def graded(self) -> bool: ...  # noqa: D102
    @property
    def solved(self) -> bool: ...  # noqa: D102


class Stopped(Frozen):
    """Why a run stopped before it was done: a limit of the run, and what is known of it.

    `reason` is one of `harness.agent.attempt.RunStop`, or `decided` where an experiment needed no
    more.
    """

    reason: str
    cause: str = ""


class Summary(Frozen):
    """A run in numbers.

    Attributes:
        planned: samples the run is to hold; `graded` of them count in the rates, `ungraded` had no
            test or were not to be run, `pending` are not done yet, by why.
        pass_at_1: over all graded problems; `with_hidden` over those that have hidden tests,
            `without_known_issues` over those not known to be judged wrongly.
        fallback: samples of which the model would not call tools, so that it was asked without.
        without_fallback: the rate without these; None where there are none.
        tool_protocols: how many called their tools in each way, where that is known.
        refused: samples that the model, or its provider's filter, refused to go on with.
        cut_off: answers that ended at the token limit, and in how many samples there are such:
            `cut_off_samples`. `max_tokens` is that limit, as the run set it; None where it did not.
        nudges: reminders that the agent loop sent after messages without a tool call.
        of_several: pass@k and pass^k, where there are several samples a problem.
        mean_fraction: mean over problems of the fraction of tests passed, where that is known.
        passed_public, overfit: samples of problems with hidden tests that passed all public tests,
            and how many of them failed a hidden one; `overfit_rate` is the mean over problems of
            the fraction of the former that did.
        no_hidden: problems that have no hidden test, and are known to have none.
        cost: US dollars; None when any sample's is unknown. `prices_as_of` is the date of the list
            that its prices are from; None where they were given, or are unknown.
        usage_unknown: samples whose provider reported no tokens.
        isolation: how many were judged in a sandbox of each level.
        well_formed_tool_calls: the share of all tool calls that could be understood; None where
            there were none.
        solved_per_1000_tokens, solved_per_dollar: solved samples over what all graded ones took;
            None where that of any is unknown, or nothing was spent.
        agents: samples of agents of the user's own, by whether they were kept from the data.
        curve: what iterating brought; None where no sample is graded, or all are older than steps.
        efficiency: how fast solutions are; None where that was measured of no sample.
        judged_again: what was run more than once.
        by_source_rule: `pass_at_1` by the sources' own rules, which upstream's leaderboards use;
            None where no checker stands in for one.
        stopped: why the last invocation stopped before the run was done; None where it did not, or
            the summary was made again from the results.
        unheard: requests whose answer nobody heard, as a limit, an interrupt or a kill came first;
            their tokens are in no total.
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
    """Sum a run up.

    Args:
        results: the committed samples.
        planned: how many there are to be.
        failures: samples that infrastructure stopped in this process, by verdict.
        prices_as_of: the date of the prices.
        stopped: why this process stopped before the run was done.
        unheard: requests of pending samples whose answer nobody heard.
        max_tokens: the token limit of one answer, as the run set it.
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
    """The fraction of each problem's graded samples that are solved, by problem id."""
    return mean_by_problem((r.problem_id, float(r.solved)) for r in results if r.graded)


def solved_counts(results: Iterable[Outcome]) -> dict[str, Counts]:
    """How many graded samples each problem has, and how many of them are solved, by its id."""
    counts: dict[str, Counts] = {}
    for result in results:
        if result.graded:
            samples, solved = counts.get(result.problem_id, (0, 0))
            counts[result.problem_id] = samples + 1, solved + result.solved
    return counts


def _mean_fraction(graded: Iterable[SampleResult]) -> float | None:
    """Of an imported verdict nobody knows the tests: it has none in either column."""
    known = ((r.problem_id, r.fraction) for r in graded if r.public_total + r.hidden_total)
    by_problem = mean_by_problem(known)
    return fmean(by_problem.values()) if by_problem else None


def rate_of(results: Iterable[Outcome]) -> Rate | None:
    """pass@1 of some results, with its interval."""
    return rate_by_problem((r.problem_id, float(r.solved)) for r in results if r.graded)


class RuledOutcome(Outcome, Protocol):
    """An outcome that also has the verdict by the source's own rule."""

    @property
    def solved_by_rule(self) -> bool | None: ...  # noqa: D102


def rate_by_source_rule(graded: Sequence[RuledOutcome]) -> Rate | None:
    """pass@1 of graded results by the sources' own rules; None where those judged all of them."""
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
    """How often each word occurs, the most frequent first."""
    counts = sorted(Counter(map(str, words)).items(), key=lambda item: (-item[1], item[0]))
    return dict(counts)


def _total_usage(results: Iterable[SampleResult]) -> Usage:
    known = [result.usage for result in results if result.usage is not None]
    return Usage(**{kind: sum(map(attrgetter(kind), known)) for kind in Usage.model_fields})


def _judged_again(results: Iterable[SampleResult]) -> JudgedAgain:
    """All that was run more than once; of most samples that is nothing."""
    nothing = JudgedAgain()
    told = (r.judged_again for r in results if vars(r.judged_again) != vars(nothing))
    return sum(told, nothing)


def _known_tokens(results: Sequence[SampleResult]) -> int | None:
    """Tokens of all samples; None where those of any are unknown."""
    usages = [result.usage for result in results]
    known = [usage.total_tokens for usage in usages if usage is not None]
    return sum(known) if len(known) == len(usages) else None


def _total_cost(results: Sequence[SampleResult]) -> float | None:
    costs = [result.cost for result in results]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
