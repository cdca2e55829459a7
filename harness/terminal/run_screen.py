"""The final screen of a run: results and any trouble."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.agent.strategies import COMES
from harness.grading.verdict import Verdict
from harness.models.providers import REFERENCES
from harness.models.route import is_local
from harness.run.plan.target import PREFIX
from harness.run.store.origin import IMPORT_AGAIN, is_imported
from harness.run.store.pending import UNDER_WAY, reason_text
from harness.run.store.results import SampleResult
from harness.run.summary.groups import FEWEST, rates_by
from harness.run.summary.loaded_run import Run, measured_words, read_run
from harness.run.summary.summary import Summary
from harness.stats.rates import Rate
from harness.terminal.columns import rates_table
from harness.terminal.summary_table import (
    no_hidden_tests,
    sandbox_level,
    several_rates,
    words,
    write_json,
)
from harness.text import UNKNOWN, count, dollars, interval, percent, printable_line, quantity

MOST_UNREAD = 0.1  # of the tool calls; above it a line says that the score depends on the protocol
MOST_VERDICTS = 6
COLUMNS = 80

Row = tuple[str, str, str, str]
"""A name, a rate, its interval, and a description."""


def run_screen(run: Run, summary: Summary | None = None) -> RenderableType:
    """Return the results of a run, in at most 20 lines of 80 columns.

    Args:
        run: the run.
        summary: a summary that also knows why this process stopped; default: the run's.
    """
    summary = summary or run.summary
    title = measured_words(run.manifest, len(run.manifest["problems"]))
    parts: list[RenderableType] = [Text(title, style="bold")]
    if run.filtered_by:
        parts.append(Text(f"only {run.filtered_by}"))
    parts += [Text(printable_line(note), style="yellow") for note in run.filter_notes]
    waiting = sum(summary.pending.values())
    cause = run.state.cause if waiting and summary.stopped is None else ""
    parts += [Text(line, style="yellow") for line in _open(summary, run, cause)]
    local = is_local(run.manifest.get("endpoint") or "")
    return Group(*parts, summary_screen(summary, run.results, local=local))


def summary_screen(
    summary: Summary, results: Sequence[SampleResult], *, local: bool = False
) -> RenderableType:
    """Return the rates, the amounts spent, and any trouble; omits what is zero.

    Args:
        summary: the run in numbers.
        results: its graded samples.
        local: whether the model's server is a local one, whose speed is of interest.
    """
    rates, spent = list(_rates(summary, results)), list(_spent(summary))
    if local and summary.tokens_per_second:
        told = f"{summary.tokens_per_second:,.1f} tokens a second, while it answers one request"
        spent.append(("server", told))
    names = max((len(name) for name, *_ in (*rates, *spent)), default=0)
    widths = [max((len(row[place]) for row in rates), default=0) for place in (1, 2)]
    lines = [
        _fact(name, names, f"{value:>{widths[0]}}  {spread:<{widths[1]}}  {told}")
        for name, value, spread, told in rates
    ]
    lines += [_fact(name, names, told) for name, told in spent]
    wrong = [Text(f"  {line}") for line in _wrong(summary)]
    blank = [Text("")] if lines and wrong else []
    return Group(*([Text("")] if lines or wrong else []), *lines, *blank, *wrong, Text(""))


def _fact(name: str, width: int, told: str) -> Text:
    return Text.assemble((f"  {name:<{width}}  ", "bold"), told.rstrip())


def _open(summary: Summary, run: Run, cause: str) -> Iterator[str]:
    """Yield lines on samples without a grade: why, and how to resume them."""
    waiting = {why: number for why, number in summary.pending.items() if why != UNDER_WAY}
    if waiting:
        reasons = ", ".join(f"{reason_text(why)} ({n:,})" for why, n in waiting.items())
        many = sum(waiting.values())
        verb = "is" if many == 1 else "are"
        way = f"Resume: harness run --resume {printable_line(str(run.path))}"
        done = {result.problem_id for result in run.results}
        left = (each for each in run.manifest["problems"] if each not in done)
        other = without_answer(run.manifest, waiting, run.path, next(left, "ID"))
        way = other[:1].upper() + other[1:] or way
        if is_imported(run.manifest):
            way = f"An imported run cannot be resumed{IMPORT_AGAIN}"
        yield f"{many:,} of {count(summary.planned, 'sample')} {verb} pending: {reasons}. {way}"
    if cause:
        yield f"the most frequent cause: {printable_line(cause)}"
    if summary.pending.get(UNDER_WAY):
        yield f"{count(summary.pending[UNDER_WAY], 'sample')} running; not counted below"
    if summary.stopped is not None:
        because = f": {printable_line(summary.stopped.cause)}" if summary.stopped.cause else ""
        yield f"stopped early, {words(summary.stopped.reason)}{because}"


def without_answer(
    manifest: Mapping[str, Any], reasons: Iterable[str], path: Path, problem: str
) -> str:
    """Return what to do where nobody answers a run that is resumed; empty if resuming helps.

    Args:
        manifest: the run's manifest.
        reasons: why samples are pending.
        path: directory of the run.
        problem: id of a problem with a pending sample.
    """
    spec = manifest.get("spec", {})
    model = spec.get("model") or ""
    if {*reasons} != {Verdict.MODEL_ERROR}:
        return ""
    if spec.get("mode") == COMES:
        command = f"harness mcp --problem {shlex.quote(problem)} --out {shlex.quote(str(path))}"
        return f"connect an agent: {printable_line(command)}"
    if model.startswith(PREFIX):
        return "a recording cannot answer more when it is resumed: name a model with -m"
    return "leave such problems out, or name a model with -m" if model == REFERENCES else ""


def _rates(summary: Summary, results: Sequence[SampleResult]) -> Iterator[Row]:
    rate = summary.pass_at_1
    if rate is None:
        return
    solved = sum(result.solved for result in results if result.graded)
    several = summary.graded > rate.problems
    noun = " samples" if several else ""
    yield _row("pass@1" if several else "solved", rate, f"{solved:,} of {summary.graded:,}{noun}")
    if summary.without_known_issues is not None:
        told = f"of {summary.without_known_issues.problems:,} without known issues"
        yield _row("", summary.without_known_issues, told)
    curve = summary.curve
    if curve and curve.iterated and curve.first_write is not None:
        missing = curve.without_first_write
        told = "before any feedback" + (f"; {missing:,} {UNKNOWN}" if missing else "")
        yield _row("first attempt", curve.first_write, told)
    elif curve and curve.iterated:
        yield "first attempt", UNKNOWN, "", "the first revisions' programs are not in the run"
    for name, value in several_rates(summary):
        if value is not None:
            yield _row(name, value, "")
    if summary.overfit and summary.overfit_rate is not None:
        told = f"{summary.overfit:,} of {summary.passed_public:,} failed a hidden test"
        yield _row("public tests only", summary.overfit_rate, told)
    yield from _other_rates(summary, rate)


def _other_rates(summary: Summary, rate: Rate) -> Iterator[Row]:
    """Yield rates over other problems or by another rule, if they differ."""
    if summary.with_hidden is not None and summary.with_hidden != rate:
        yield _row("hidden tests", summary.with_hidden, _of(summary.with_hidden))
    if summary.without_fallback is not None:
        told = _of(summary.without_fallback)
        yield _row("without fallback", summary.without_fallback, f"{told} asked with tools")
    if summary.by_source_rule is not None and summary.by_source_rule != rate:
        yield _row("source's rule", summary.by_source_rule, "as the benchmark's authors judge")
    timed = summary.efficiency
    if timed is not None and timed.beyond is not None:
        low, high = timed.beyond.low, timed.beyond.high
        told = f"CPU time, of {count(timed.beyond.problems, 'problem')}"
        yield "Beyond@1", f"{timed.beyond.value:.3f}", f"({low:.3f} to {high:.3f})", told


def _of(rate: Rate) -> str:
    return f"of {count(rate.problems, 'problem')}"


def _row(name: str, rate: Rate, told: str) -> Row:
    return name, percent(rate.value), f"({interval(rate.low, rate.high)})", told


def _spent(summary: Summary) -> Iterator[tuple[str, str]]:
    usage = summary.usage
    if not summary.graded and not usage.total_tokens:
        return
    tokens = f"{quantity(usage.input_tokens)} in, {quantity(usage.output_tokens)} out"
    if summary.usage_unknown:
        missing = f"{UNKNOWN} for {count(summary.usage_unknown, 'sample')}"
        tokens = f"{tokens}; {missing}" if usage.total_tokens else missing
    yield "tokens", tokens
    cost = dollars(summary.cost, summary.prices_as_of)
    if summary.solved_per_dollar:
        cost += f", {dollars(1 / summary.solved_per_dollar)} per solved"
    yield "cost", cost


def _wrong(summary: Summary) -> Iterator[str]:
    """Yield the verdicts of failed samples, and what the user may want to act on."""
    failed = [(name, n) for name, n in summary.verdicts.items() if name != "accepted"]
    shown = failed[:MOST_VERDICTS]
    if shown:
        yield "   ".join(f"{words(name)} {number:,}" for name, number in shown)
    yield from no_hidden_tests(summary.no_hidden)
    if summary.ungraded:
        yield f"{count(summary.ungraded, 'sample')} ungraded (no tests, or not run); in no rate"
    if summary.cut_off:
        now = "the provider's own" if summary.max_tokens is None else f"{summary.max_tokens:,}"
        were = "answer was" if summary.cut_off == 1 else "answers were"
        yield (
            f"{summary.cut_off:,} {were} cut off by the token limit: raise --max-tokens (now {now})"
        )
    yield from _tools(summary)
    if summary.refused:
        yield f"{count(summary.refused, 'sample')} refused by the model or its provider"
    if summary.unheard:
        yield f"{count(summary.unheard, 'request')} cut off; their tokens are in no total"
    if loose := summary.agents.get("not_kept_from_the_data"):
        yield f"{count(loose, 'sample')} by an agent not isolated from hidden tests"
    again = summary.judged_again
    changed = sum(each[1] for each in (again.confirmed, again.rechecked, again.retimed))
    if changed:
        yield f"{count(changed, 'test')} had another verdict when run again"
    for name, told in sandbox_level(summary.isolation):
        yield f"{name}: {told}"


def _tools(summary: Summary) -> Iterator[str]:
    """Yield the numbers of samples that did not call tools natively."""
    if in_text := summary.tool_protocols.get("text"):
        yield f"tools called: in text {in_text:,}"
    if summary.fallback:
        yield f"{count(summary.fallback, 'sample')} asked without tools: none called, or none read"
    calls, unread = summary.tool_calls, summary.malformed_tool_calls
    if unread > MOST_UNREAD * calls:
        yield (
            f"{unread:,} of {count(calls, 'tool call')} could not be read: the score also says "
            "how well the model keeps to the protocol (--tool-protocol)"
        )


def hints(path: str, *, samples: bool = True) -> list[Text]:
    """Return commands that show more of a run, each on one line for copying."""
    shown = printable_line(path)
    lines = [
        *([(f"harness show {shown}", "every sample")] if samples else []),
        (f"harness show {shown} --details", "groups, turns, tokens, re-checks"),
        (f"harness report {shown}", "one HTML page"),
    ]
    wide = max(len(command) for command, _ in lines)
    texts = [f"  {command:<{wide}}    {what}" for command, what in lines]
    if max(map(len, texts)) > COLUMNS:  # a long path: only the commands
        texts = [f"  {command}" for command, _ in lines]
    return [Text(text, style="dim", no_wrap=True, overflow="ignore") for text in texts]


def groups_view(results: Sequence[SampleResult], kinds: Sequence[str]) -> Iterator[RenderableType]:
    """Yield a table of rates for each grouping; small groups are only counted."""
    for kind in kinds:
        rates = rates_by(results, kind)
        shown = [(each.name, each.rate) for each in rates if each.rate.problems >= FEWEST]
        if shown:
            yield rates_table(*shown, title=f"by {kind}")
        yield from too_few(kind, len(rates) - len(shown))


def too_few(kind: str, groups: int) -> Iterator[Text]:
    """Yield a note on the number of groups not shown, if any."""
    if groups:
        said = count(groups, kind, {"difficulty": "difficulties"}.get(kind))
        yield Text(f"{said} with fewer than {FEWEST} problems not shown", style="dim")


def print_summary(out: Console, summary: Summary, run: Path, *, as_json: bool) -> None:
    """Print the results and the run's path, or the summary as one JSON object."""
    if as_json:
        write_json(out, json.dumps({"run": str(run), **summary.model_dump(mode="json")}))
        return
    out.print(run_screen(read_run(run), summary))
    for line in hints(str(run)):
        out.print(line, crop=False)
    out.print(f"saved in {run}", soft_wrap=True)
