"""Facts of a run's summary as names and values: counts, tokens, irregularities."""

from collections.abc import Iterator

from harness.agent.attempt import LoopFacts
from harness.figures import count, dollars, figure, interval, percent
from harness.grading.verdict import JudgedAgain
from harness.run.store.origin import IMPORT_AGAIN
from harness.run.store.pending import UNDER_WAY, reason_text
from harness.run.store.results import WrittenTestCounts
from harness.run.summary.impossible_rates import impossible_words
from harness.run.summary.iteration import Curve
from harness.run.summary.summary import Summary
from harness.sandbox.isolation import Level
from harness.terminal.efficiency_table import efficiency_facts
from harness.text import printable_line


def no_hidden_tests(problems: int) -> Iterator[str]:
    """Yield a line on problems judged by public tests only, if there are any."""
    if problems:
        yield f"No hidden tests: {count(problems, 'problem')} (judged by public tests only)"


def sandbox_level(isolation: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the sandbox levels of verdicts, if weak ones make them doubtful."""
    if set(isolation) - {Level.NAMESPACES, Level.LANDLOCK}:
        yield "sandbox level", counts(isolation)


def judged_again(again: JudgedAgain) -> Iterator[tuple[str, str]]:
    """Yield what the judge ran again, if anything."""
    parts = [
        f"{count(tries, noun)}, {changed} changed"
        for (tries, changed), noun in (
            (again.confirmed, "failed test"),
            (again.rechecked, "passed test"),
            (again.retimed, "narrow time-out"),
        )
        if changed
    ]
    if parts:
        yield "judged again", "; ".join(parts)
    if again.retried:
        blamed = f", {count(again.blamed, 'time')} by the program's own doing"
        failed = f"failed {count(again.retried, 'time')}"
        yield "sandbox", failed + (blamed if again.blamed else "") + "; run again on a fresh one"


def _cut_short(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield what a limit of the run, or a kill, left incomplete."""
    if summary.stopped is not None:
        because = f": {printable_line(summary.stopped.cause)}" if summary.stopped.cause else ""
        yield "stopped early", f"{words(summary.stopped.reason)}{because}"
    if summary.unheard:
        many = count(summary.unheard, "request")
        yield "answers unheard", f"{many} cut off; their tokens are in no total"


def summary_facts(summary: Summary, *, imported: bool, recorded: bool) -> Iterator[tuple[str, str]]:
    """Yield names and values to show below the rates.

    Args:
        summary: summary of the run.
        imported: whether another program made the run, so that it cannot be resumed.
        recorded: whether answers were played again, so that no limit of theirs can be changed.
    """
    yield "samples", f"{summary.graded} graded of {summary.planned}"
    yield from _in_no_rate(summary)
    for why, number in summary.pending.items():
        later = IMPORT_AGAIN if imported else ", repeated by --resume"
        later = "" if why == UNDER_WAY else later
        yield "pending", f"{number} {reason_text(why)}; in no rate{later}"
    yield from _cut_short(summary)
    yield from _too_few(summary)
    if summary.mean_fraction is not None:
        yield "tests passed", f"{percent(summary.mean_fraction)} of a problem's, on average"
    if summary.mean_score is not None:
        yield "points", f"{percent(summary.mean_score)} of a problem's, on average"
    if summary.passed_public:
        yield "fail a hidden test", _overfit(summary)
    if summary.no_hidden:
        yield "no hidden tests", count(summary.no_hidden, "problem")
    if summary.verdicts:
        yield "verdicts", counts(summary.verdicts)
        yield "stopped by", counts(summary.stop_reasons)
    yield from _unknown_steps(summary)
    yield from efficiency_facts(summary.efficiency)
    yield "tokens", _tokens(summary)
    yield "cost", dollars(summary.cost, summary.prices_as_of)
    if summary.solved_per_1000_tokens is not None:
        yield "solved", _solved_per(summary)
    yield from _answers(summary, recorded=recorded)
    if summary.agents:
        yield "agent", counts(summary.agents)
    yield from judged_again(summary.judged_again)
    yield from sandbox_level(summary.isolation)


def _in_no_rate(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield the samples that ended and count in no solved rate."""
    if summary.untested:
        yield "ungraded", f"{summary.untested} (no tests, or not run); in no rate"
    if summary.impossible is not None:
        for line in impossible_words(summary.impossible):
            yield "impossible tests", line


def _answers(summary: Summary, *, recorded: bool) -> Iterator[tuple[str, str]]:
    """Yield the numbers of answers and calls, and their irregularities."""
    yield "calls", _calls(summary)
    if summary.loop.later:
        yield "iterating", loop_words(summary.loop)
    if summary.cut_off:
        yield "cut off", cut_off_words(summary, recorded=recorded)
    if summary.written_tests is not None:
        yield "written tests", written_tests_words(summary.written_tests)
    if set(summary.tool_protocols) & {"text"} or summary.fallback:
        yield "handed in", _protocols(summary)


def iterating_words(curve: Curve) -> str:
    """Return what iterating gained and lost, of the samples whose first program is known."""
    known = curve.samples - curve.first_write_unknown
    return f"iterating gained {curve.gained:,} of {known:,}, lost {curve.gone:,}"


def loop_words(facts: LoopFacts) -> str:
    """Return what the requests after each sample's first brought."""
    parts = [f"{facts.new_programs:,} with a new program"]
    parts += [
        words
        for number, words in (
            (facts.repeats, count(facts.repeats, "repeat")),
            (facts.restarts, count(facts.restarts, "new beginning")),
            (facts.silent, f"{count(facts.silent, 'message')} without a program"),
            (facts.renewed, f"{count(facts.renewed, 'conversation')} refused and begun anew"),
            (facts.without_reasoning, f"{facts.without_reasoning:,} without refused reasoning"),
            (facts.named_tools, f"{count(facts.named_tools, 'program')} with a tool's name"),
        )
        if number
    ]
    return f"{count(facts.later, 'later request')}: {', '.join(parts)}"


def _too_few(summary: Summary) -> Iterator[tuple[str, str]]:
    for each in summary.of_several:
        if each.too_few:
            few = count(each.too_few, "problem")
            yield f"pass@{each.k}", f"unknown for {few} with fewer samples; in no such rate"


def _overfit(summary: Summary) -> str:
    text = f"{summary.overfit} of the {summary.passed_public} that passed all public tests failed "
    rate = summary.overfit_rate
    if rate is None:
        return text + "a hidden one"
    return f"{text}a hidden one: {percent(rate.value)} ({interval(rate.low, rate.high)})"


def _unknown_steps(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield notes on unknown steps, and on differences between rates and pass@1."""
    curve = summary.curve
    if curve is None:
        if summary.graded and summary.model_calls > summary.graded + summary.ungraded:
            yield "first attempt", "unknown; the results are of a version that did not keep it"
        return
    if not curve.iterated:
        return
    if curve.without_steps:
        number = count(curve.without_steps, "sample")
        yield (
            "first attempt",
            f"unknown for {number} of a version that did not keep it; in no such share",
        )
    if curve.first_write_unknown:
        number = count(curve.first_write_unknown, "sample")
        yield "first attempt", f"unknown for {number}; not in its rate"
    if curve.perhaps_earlier:
        number = count(curve.perhaps_earlier, "sample")
        yield "solved so far", f"perhaps more: {number} with a revision of unknown grade before"
    if curve.solved_unrun:
        number = count(curve.solved_unrun, "solved sample")
        yield "never run", f"{number} whose solution was not; in no row of test runs"
    if curve.lost:
        number = count(curve.lost, "sample")
        yield "lost", f"{number} had a solution that passes all tests, and ended with another"


def _solved_per(summary: Summary) -> str:
    text = f"{figure(summary.solved_per_1000_tokens)} per 1,000 tokens"
    if summary.solved_per_dollar is None:
        return text
    return f"{text}, {figure(summary.solved_per_dollar)} per dollar"


def _calls(summary: Summary) -> str:
    parts = [count(summary.model_calls, "model call"), count(summary.tool_calls, "tool call")]
    if summary.tool_calls and not summary.malformed_tool_calls:
        parts.append("all well-formed")
    if summary.malformed_tool_calls:
        well = summary.well_formed_tool_calls
        share = "" if well is None else f" ({percent(well)} well-formed)"
        parts.append(f"{summary.malformed_tool_calls} malformed{share}")
    if summary.salvaged:
        parts.append(f"{count(summary.salvaged, 'solution')} salvaged from prose")
    if summary.salvaged_from_calls:
        parts.append(f"{count(summary.salvaged_from_calls, 'solution')} from calls that failed")
    if summary.nudges:
        parts.append(count(summary.nudges, "reminder"))
    if summary.refused:
        parts.append(count(summary.refused, "refusal"))
    return ", ".join(parts)


def written_tests_words(counts: WrittenTestCounts) -> str:
    """Return the number of tests that the model wrote, and the share of wrong ones."""
    text = f"{count(counts.total, 'test')} by the model"
    if not counts.checked:
        return f"{text}; no right solution to check them by"
    share, of = percent(counts.wrong / counts.checked), f"{counts.wrong:,} of {counts.checked:,}"
    return f"{text}; {of} that could be checked are wrong ({share})"


def cut_off_words(summary: Summary, *, recorded: bool) -> str:
    """Return the number of answers cut off by the token limit, and what to do unless recorded."""
    answers, samples = count(summary.cut_off, "answer"), count(summary.cut_off_samples, "sample")
    now = "the provider's own" if summary.max_tokens is None else f"{summary.max_tokens:,}"
    what = "" if recorded else f"; raise --max-tokens (now {now})"
    return f"{answers} in {samples}, by the token limit{what}"


def _protocols(summary: Summary) -> str:
    named = {"native": "by native calls", "text": "as text", "none": "without a loop"}
    text = counts({named[name]: number for name, number in summary.tool_protocols.items()})
    if not summary.fallback:
        return text
    return f"{text}; fallback: {count(summary.fallback, 'sample')} asked without tools"


def _tokens(summary: Summary) -> str:
    usage = summary.usage
    if summary.usage_unknown and not usage.total_tokens:
        return f"unknown for {count(summary.usage_unknown, 'sample')}"
    text = f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"
    if usage.cached_input_tokens:
        text += f", {usage.cached_input_tokens:,} of the input cached"
    if summary.usage_unknown:
        text += f"; unknown for {count(summary.usage_unknown, 'sample')}"
    return text


def counts(numbers: dict[str, int]) -> str:
    """Return counts in one line."""
    return ", ".join(f"{words(name)} {number:,}" for name, number in numbers.items())


def words(name: str) -> str:
    """Return a verdict, a rule or a reason in words."""
    return name.replace("_", " ")
