"""The final screen of a run: results and any trouble."""

import json
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.figures import UNKNOWN, count, dollars, quantity, words
from harness.models.route import is_local
from harness.run.store.origin import is_replay
from harness.run.summary.fact import facts_of, remarks_of
from harness.run.summary.facts import limit_words, no_hidden_tests, sandbox_level, unheard_words
from harness.run.summary.loaded_run import Run, measured_words, read_run
from harness.run.summary.summary import Summary
from harness.terminal.consoles import write_json
from harness.terminal.pending_lines import pending_lines
from harness.text import printable_line

COLUMNS = 80
MOST_UNREAD = 0.1  # of the tool calls; above it a line says that the score depends on the protocol
MOST_VERDICTS = 6
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
    parts += [Text(line, style="yellow") for line in pending_lines(summary, run, cause)]
    local = is_local(run.manifest.get("endpoint") or "") and not run.spec.get("batch")
    recorded = is_replay(run.manifest)
    return Group(*parts, summary_screen(summary, local=local, recorded=recorded))


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


def print_summary(out: Console, summary: Summary, run: Path, *, as_json: bool) -> None:
    """Print the results and the run's path, or the summary as one JSON object."""
    if as_json:
        write_json(out, json.dumps({"run": str(run), **summary.model_dump(mode="json")}))
        return
    out.print(run_screen(read_run(run), summary))
    for line in hints(str(run)):
        out.print(line, crop=False)
    out.print(f"saved in {run}", soft_wrap=True)


def summary_screen(
    summary: Summary,
    *,
    local: bool = False,
    recorded: bool = False,
) -> RenderableType:
    """Return the rates, the amounts spent, and any trouble; omits what is zero.

    Args:
        summary: the run in numbers.
        local: whether the model's server is a local one, whose speed is of interest.
        recorded: whether answers were played again, so that their limits cannot be changed.
    """
    rates, spent = list(_rates(summary)), list(_spent(summary))
    if local and summary.tokens_per_second:
        figure = f"{summary.tokens_per_second:,.1f} tokens a second, while it answers one request"
        spent.append(("server", figure))
    names = max((len(name) for name, *_ in (*rates, *spent)), default=0)
    widths = [max((len(row[place]) for row in rates), default=0) for place in (1, 2)]
    lines = [
        _fact(name, names, f"{value:>{widths[0]}}  {spread:<{widths[1]}}  {figure}")
        for name, value, spread, figure in rates
    ]
    lines += [_fact(name, names, figure) for name, figure in spent]
    wrong = [Text(f"  {line}") for line in _wrong(summary, recorded=recorded)]
    blank = [Text("")] if lines and wrong else []
    return Group(*([Text("")] if lines or wrong else []), *lines, *blank, *wrong, Text(""))


def _fact(name: str, width: int, value: str) -> Text:
    return Text.assemble((f"  {name:<{width}}  ", "bold"), value.rstrip())


def _rates(summary: Summary) -> Iterator[Row]:
    """Yield the rates that have a note, each with its interval."""
    if summary.pass_at_1 is None:
        return
    single = summary.graded == summary.pass_at_1.problems
    for fact in facts_of([summary]):
        note = fact.note(summary) if fact.note else None
        if note is not None:
            rate, _, spread = fact.figure(summary).partition(" (")
            name = "solved" if fact.key == "pass_at_1" and single else fact.name
            yield name, rate, f"({spread}" if spread else "", note


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


def _wrong(summary: Summary, *, recorded: bool) -> Iterator[str]:
    """Yield the verdicts of failed samples, and what the user may want to act on."""
    counts = {**summary.verdicts, "ungraded": summary.untested}
    failed = [(name, n) for name, n in counts.items() if name != "accepted" and n]
    shown = failed[:MOST_VERDICTS]
    if shown:
        yield "   ".join(f"{words(name)} {number:,}" for name, number in shown)
    yield from no_hidden_tests(summary.no_hidden)
    if summary.untested:
        yield f"{count(summary.untested, 'sample')} ungraded (no tests, or not run); in no rate"
    for name, (first, *more) in remarks_of(summary):
        yield f"{name}: {first}"
        yield from (f"  {line}" for line in more)
    if summary.cut_off:
        were = "answer was" if summary.cut_off == 1 else "answers were"
        what = "" if recorded else f": raise --max-tokens (now {limit_words(summary)})"
        yield f"{summary.cut_off:,} {were} cut off by the token limit{what}"
    yield from _tools(summary)
    if summary.refused:
        yield f"{count(summary.refused, 'sample')} refused by the model or its provider"
    if summary.unheard:
        yield unheard_words(summary.unheard)
    if loose := summary.agents.get("not_kept_from_the_data"):
        yield f"{count(loose, 'sample')} by an agent not isolated from hidden tests"
    again = summary.judged_again
    changed = sum(each[1] for each in (again.confirmed, again.rechecked, again.retimed))
    if changed:
        yield f"{count(changed, 'test')} had another verdict when run again"
    for name, value in sandbox_level(summary.isolation).items():
        yield f"{name}: {value}"


def _tools(summary: Summary) -> Iterator[str]:
    """Yield the numbers of samples that did not hand in their programs with native tools."""
    in_text = summary.tool_protocols.get("text", 0) - summary.fallback
    if len(summary.tool_protocols) > 1 and in_text > 0:
        yield f"{count(in_text, 'sample')} asked without native tools"
    if summary.fallback:
        yield f"{count(summary.fallback, 'sample')} asked without tools: none called, or none read"
    calls, unread = summary.tool_calls, summary.malformed_tool_calls
    if unread > MOST_UNREAD * calls:
        yield (
            f"{unread:,} of {count(calls, 'tool call')} could not be read: the score also says "
            "how well the model keeps to the protocol (--tool-protocol)"
        )
