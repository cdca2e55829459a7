"""`summary.json`: a summary derived from the results, which can be made again."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field

from harness.agent.attempt import ChosenBy, LoopFacts
from harness.frozen import Frozen
from harness.grading.verdict import JudgedAgain, Score
from harness.models.protocol import Usage
from harness.registry import hooks
from harness.run.store.results import Columns, SampleResult, WrittenTestCounts
from harness.run.summary.iteration import Curve, curve_of
from harness.stats.pass_at_k import OfSeveral, of_several
from harness.stats.rates import (
    Rate,
    effective_trials,
    mean_by_problem,
    rate_by_problem,
    solved_per,
    wilson,
)

if TYPE_CHECKING:
    from harness.features.efficiency.efficiency_summary import EfficiencySummary
    from harness.features.impossible.impossible_rates import ImpossibleSummary
else:
    EfficiencySummary, ImpossibleSummary = (
        hooks("summary").get(key, Any) for key in ("efficiency", "impossible")
    )

SCHEMA = 1
AGENTS = {True: "kept_from_the_data", False: "not_kept_from_the_data"}


class SampleFacts(Protocol):
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
        salvaged, salvaged_from_calls: solutions found in messages, and in calls that failed.
        fallback: samples in which the model called no tools, or its calls failed, so that it was
            asked without.
        without_fallback: the rate without these; None if there are none.
        tool_protocols: number of samples by tool protocol, if known.
        refused: samples that the model, or the provider's filter, refused to continue.
        cut_off: answers that ended at the token limit; `cut_off_samples` is the number of samples
            with such answers, `max_tokens` the run's limit, None if not set.
        tokens_per_second: output tokens by the seconds of their answers; None if unknown.
        loop: what the requests after each sample's first brought, in sum.
        nudges: reminders by the agent loop after messages without a tool call.
        of_several: pass@k and pass^k, with several samples per problem.
        mean_fraction: mean over problems of the fraction of tests passed, if known.
        passed_public, overfit: samples of problems with hidden tests that passed all public tests,
            and those of them that failed a hidden one; `overfit_rate` is the latter's share of the
            former.
        no_hidden: number of problems that were judged by public tests only.
        cost: US dollars; None if any sample's cost is unknown. `prices_as_of` is the date of the
            price list, or "the provider" for its own cost; None if prices were given, or are
            unknown.
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
        written_tests: tests that the model wrote; None in modes that ask for none.
        stopped: why the last invocation stopped early; None if it did not, or the summary was made
            again from the results.
        unheard: requests whose answer was lost to a limit, an interrupt or a kill; their tokens
            are in no total.
        impossible: samples of problems with an impossible test, which are among the `ungraded`;
            None without any.
        mean_score: mean over problems that give points of the share of a full score; None, and
            left out of the file, without any.
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
    salvaged_from_calls: int = 0
    fallback: int = 0
    without_fallback: Rate | None = None
    tool_protocols: dict[str, int] = Field(default_factory=dict[str, int])
    refused: int = 0
    nudges: int = 0
    loop: LoopFacts = LoopFacts()
    cut_off: int = 0
    cut_off_samples: int = 0
    max_tokens: int | None = None
    tokens_per_second: float | None = None
    overfit_rate: Rate | None = None
    well_formed_tool_calls: float | None = None
    agents: dict[str, int] = Field(default_factory=dict[str, int])
    solved_per_1000_tokens: float | None = None
    solved_per_dollar: float | None = None
    curve: Curve | None = None
    efficiency: EfficiencySummary | None = None
    judged_again: JudgedAgain
    by_source_rule: Rate | None = None
    written_tests: WrittenTestCounts | None = None
    stopped: Stopped | None = None
    unheard: int = 0
    impossible: ImpossibleSummary | None = None
    mean_score: Annotated[float | None, Field(exclude_if=lambda share: share is None)] = None

    @property
    def measured(self) -> bool:
        """Whether anything is graded, in a solved rate or apart from it."""
        return bool(self.graded or self.impossible)

    @property
    def untested(self) -> int:
        """Number of samples that had no tests, or were not to be run."""
        return self.ungraded - (self.impossible.samples if self.impossible else 0)


def summarize(
    results: Columns | Iterable[SampleResult],
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
    table = results if isinstance(results, Columns) else Columns(results)
    verdicts, ids, judged = table["verdict"], table["problem_id"], table.graded
    hidden = _where(table, judged, "hidden_total")
    sound = _where(table, judged, "known_issues", empty=True)
    by_tools = _where(table, judged, "fallback", empty=True)
    public, passed = table["public_total"], table["public_passed"]
    passing = [place for place in hidden if 0 < passed[place] == public[place]]
    overfit = [table["hidden_passed"][n] < table["hidden_total"][n] for n in passing]
    solved = table.total("solved")
    calls, malformed = table.total("tool_calls"), table.total("malformed_tool_calls")
    usages, costs = table.at("usage", judged), table.at("cost", judged)
    scores = table.at("score", judged)
    failed = dict(failures or {})
    not_run = planned - len(ids) - sum(failed.values())
    return Summary(
        problems=len(set(ids)),
        planned=planned,
        graded=len(judged),
        ungraded=len(ids) - len(judged),
        pending={**failed, **({"not_run": not_run} if not_run > 0 else {})},
        pass_at_1=_rate(table, judged),
        with_hidden=_rate(table, hidden),
        without_known_issues=_rate(table, sound) if len(sound) < len(judged) else None,
        of_several=of_several([*table.counts.values()]),
        mean_fraction=_mean_fraction(table, judged),
        passed_public=len(passing),
        overfit=sum(overfit),
        no_hidden=without_hidden(
            (ids[place], public[place] + table["hidden_total"][place], table["hidden_total"][place])
            for place in judged
        ),
        by_difficulty=_grouped(table, judged, "difficulty"),
        by_platform=_grouped(table, judged, "platform"),
        verdicts=counted(verdicts),
        isolation=counted(filter(None, table["isolation"])),
        stop_reasons=counted(table["stop_reason"]),
        usage=_total_usage(table["usage"]),
        usage_unknown=table["usage"].count(None),
        cost=_total_cost(table["cost"]),
        prices_as_of=prices_as_of or _told_by_the_provider(table["usage"], table["cost"]),
        model_calls=table.total("model_calls"),
        tool_calls=calls,
        malformed_tool_calls=malformed,
        salvaged=table["chosen_by"].count(ChosenBy.PROSE),
        salvaged_from_calls=table["chosen_by"].count(ChosenBy.FAILED_CALL),
        fallback=table.total("fallback"),
        without_fallback=_rate(table, by_tools) if len(by_tools) < len(judged) else None,
        tool_protocols=counted(filter(None, table["tool_protocol"])),
        refused=table.total("refused"),
        nudges=table.total("nudges"),
        loop=_added(table, "loop"),
        cut_off=table.total("cut_off"),
        cut_off_samples=sum(number > 0 for number in table["cut_off"]),
        max_tokens=max_tokens,
        tokens_per_second=_speed(table),
        agents=counted(AGENTS[each] for each in table["confined"] if each is not None),
        overfit_rate=_pooled(table, passing, overfit),
        well_formed_tool_calls=1 - malformed / calls if calls else None,
        solved_per_1000_tokens=solved_per(solved, _known_tokens(usages), 1_000),
        solved_per_dollar=solved_per(solved, _total_cost(costs)),
        curve=curve_of(table.samples),
        judged_again=_added(table, "judged_again"),
        by_source_rule=rate_by_source_rule(
            table.rows("problem_id", "solved", "solved_by_rule", places=judged)
        ),
        written_tests=_written_tests(table["written_tests"]),
        stopped=stopped,
        unheard=unheard + table.total("unheard"),
        mean_score=mean_score(zip(table.at("problem_id", judged), scores, strict=True)),
        **{key: part(table.results) for key, part in hooks("summarize").items() if any(table[key])},
    )


def without_hidden(judged: Iterable[tuple[str, int, int]]) -> int:
    """Return the number of problems that have tests, none of them hidden.

    Args:
        judged: of each judged solution, the problem's id, its tests, and the hidden ones of them;
            both 0 if they are not known.
    """
    return len({problem for problem, tests, hidden in judged if tests and not hidden})


def mean_score(scores: Iterable[tuple[str, Score | None]]) -> float | None:
    """Return the mean over problems of the share of a full score; None without points.

    Args:
        scores: problem and points of each judged solution.
    """
    shares = [(problem, score.share) for problem, score in scores if score is not None]
    return fmean(mean_by_problem(shares).values()) if shares else None


def _speed(table: Columns) -> float | None:
    """Return the output tokens a second of one answer; None if no seconds are known."""
    pairs = zip(table["usage"], table["answer_seconds"], strict=True)
    timed = [(usage.output_tokens, seconds) for usage, seconds in pairs if usage and seconds]
    seconds = sum(seconds for _, seconds in timed)
    return sum(tokens for tokens, _ in timed) / seconds if seconds else None


def _where(table: Columns, places: Iterable[int], key: str, *, empty: bool = False) -> list[int]:
    """Return the places whose value of a field is truthy, or falsy if `empty`."""
    values = table[key]
    return [place for place in places if bool(values[place]) is not empty]


def _rate(table: Columns, places: Sequence[int]) -> Rate | None:
    """Return pass@1 of graded results."""
    return rate_by_problem(
        zip(table.at("problem_id", places), map(float, table.at("solved", places)), strict=True)
    )


def _pooled(table: Columns, places: Sequence[int], values: Sequence[bool]) -> Rate | None:
    """Return the share of the samples themselves, whose interval heeds that problems repeat."""
    if not places:
        return None
    pairs = zip(table.at("problem_id", places), map(float, values), strict=True)
    fractions = [*mean_by_problem(pairs).values()]
    value = sum(values) / len(places)
    low, high = wilson(value, effective_trials(fractions, len(places)))
    return Rate(value=value, problems=len(fractions), low=low, high=high)


def _mean_fraction(table: Columns, places: Sequence[int]) -> float | None:
    """Return the mean fraction of tests passed, where test counts are known."""
    keys = ("problem_id", "public_passed", "hidden_passed", "public_total", "hidden_total")
    known = [
        (i, (p + h) / (public + hidden))
        for i, p, h, public, hidden in table.rows(*keys, places=places)
        if public + hidden
    ]
    by_problem = mean_by_problem(known)
    return fmean(by_problem.values()) if by_problem else None


def rate_of(results: Iterable[SampleFacts]) -> Rate | None:
    """Return pass@1 of some results, with its interval."""
    return rate_by_problem([(r.problem_id, float(r.solved)) for r in results if r.graded])


def rate_by_source_rule(graded: Iterable[tuple[str, bool, bool | None]]) -> Rate | None:
    """Return pass@1 by the sources' own rules; None if those graded all results.

    Args:
        graded: of each graded result the problem's id, whether it is solved, and whether it is by
            the source's own rule; None if that graded it.
    """
    rows = list(graded)
    if all(by_rule is None for _, _, by_rule in rows):
        return None
    return rate_by_problem(
        (name, float(solved if by_rule is None else by_rule)) for name, solved, by_rule in rows
    )


def _grouped(table: Columns, places: Iterable[int], key: str) -> dict[str, Rate]:
    order = ("easy", "medium", "hard", "unknown")
    values = table[key]
    members: dict[str, list[int]] = defaultdict(list)
    for place in places:
        name = values[place]
        members["unknown" if name is None else name].append(place)
    ranked = sorted(members, key=lambda name: (order.index(name) if name in order else -1, name))
    rates = ((name, _rate(table, members[name])) for name in ranked)
    return {name: value for name, value in rates if value is not None}


def counted(words: Iterable[str]) -> dict[str, int]:
    """Count how often each word occurs, the most frequent first."""
    counts = sorted(Counter(map(str, words)).items(), key=lambda item: (-item[1], item[0]))
    return dict(counts)


def _total_usage(usages: Iterable[Usage | None]) -> Usage:
    known = [usage for usage in usages if usage is not None]
    kinds = tuple(name for name in Usage.model_fields if name != "cost_usd")
    totals = map(sum, zip(*map(attrgetter(*kinds), known), strict=True))
    cost = _total_cost([usage.cost_usd for usage in known])
    return Usage(**dict(zip(kinds, totals, strict=False)), cost_usd=cost)


def _added(table: Columns, key: str) -> Any:
    """Add up the values of a field, most of which are its default: nothing."""
    nothing: Any = SampleResult.model_fields[key].default
    unusual = (each for each in table[key] if each is not nothing)
    return sum((each for each in unusual if vars(each) != vars(nothing)), nothing)


def _written_tests(counts: Iterable[WrittenTestCounts | None]) -> WrittenTestCounts | None:
    """Add up the tests that the model wrote; None without any."""
    known = [each for each in counts if each is not None]
    if not known:
        return None
    return WrittenTestCounts(
        total=sum(each.total for each in known),
        checked=sum(each.checked for each in known),
        wrong=sum(each.wrong for each in known),
    )


def _known_tokens(usages: Sequence[Usage | None]) -> int | None:
    """Return the tokens of all samples; None if unknown for any."""
    known = [usage.total_tokens for usage in usages if usage is not None]
    return sum(known) if len(known) == len(usages) else None


def _told_by_the_provider(
    usages: Sequence[Usage | None], costs: Sequence[float | None]
) -> str | None:
    """Return the words for prices that are the provider's own; None for no such cost."""
    told = (
        usage is not None and cost is not None and usage.cost_usd == cost
        for usage, cost in zip(usages, costs, strict=True)
    )
    return "the provider" if any(told) else None


def _total_cost(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
