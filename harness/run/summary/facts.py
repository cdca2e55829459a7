"""The facts of every run: rates, what iterating brought, verdicts, spend, irregularities."""

from collections.abc import Iterator, Sequence
from functools import partial

from harness.agent.attempt import LoopFacts
from harness.figures import UNKNOWN, count, counts, dollars, percent, rate_words, words
from harness.grading.verdict import JudgedAgain
from harness.run.store.pending import reason_text
from harness.run.summary.fact import NONE, Fact, Facts, Screen
from harness.run.summary.iteration import Curve
from harness.run.summary.summary import Summary
from harness.sandbox.isolation import Level
from harness.stats.pass_at_k import OfSeveral
from harness.stats.rates import Rate
from harness.text import printable_line

DETAILS, PAGES = Screen.DETAILS, Screen.PAGES
OF_RUN = DETAILS | PAGES
OF_CURVE = (
    (
        *("perhaps_earlier", "solved so far", "sample"),
        "perhaps more: {} with a revision of unknown grade before",
    ),
    (
        *("solved_unrun", "never run", "solved sample"),
        "{} whose solution was not; in no row of test runs",
    ),
    (
        *("lost", "lost", "sample"),
        "{} had a solution that passes all tests, and ended with another",
    ),
)
"""Keys of a curve's numbers, and name, noun and sentence of each."""
PROTOCOLS = {"native": "by native calls", "text": "as text", "none": "without a loop"}


def no_hidden_tests(problems: int) -> Iterator[str]:
    """Yield a line on problems judged by public tests only, if there are any."""
    if problems:
        yield f"No hidden tests: {count(problems, 'problem')} (judged by public tests only)"


def sandbox_level(isolation: dict[str, int]) -> dict[str, str]:
    """Return the sandbox levels of verdicts by their name, if weak ones make them doubtful."""
    weak = set(isolation) - {Level.NAMESPACES, Level.LANDLOCK}
    return {"sandbox level": counts(isolation)} if weak else {}


def judged_again(again: JudgedAgain) -> dict[str, str]:
    """Return what the judge ran again, if anything, by its name."""
    told: dict[str, str] = {}
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
        told["judged again"] = "; ".join(parts)
    if again.retried:
        blamed = f", {count(again.blamed, 'time')} by the program's own doing"
        failed = f"failed {count(again.retried, 'time')}" + (blamed if again.blamed else "")
        told["sandbox"] = f"{failed}; run again on a fresh one"
    return told


def iterating_words(curve: Curve) -> str:
    """Return what iterating gained and lost, of the samples whose first program is known."""
    known = curve.samples - curve.first_write_unknown
    return f"iterating gained {curve.gained:,} of {known:,}, lost {curve.gone:,}"


def unheard_words(requests: int) -> str:
    """Return the number of requests whose answer was lost."""
    return f"{count(requests, 'request')} cut off; their tokens are in no total"


def limit_words(summary: Summary) -> str:
    """Return the token limit of one answer."""
    return "the provider's own" if summary.max_tokens is None else f"{summary.max_tokens:,}"


def _pending(summary: Summary) -> str:
    reasons = summary.pending.items()
    return "\n".join(f"{number:,} {reason_text(why)}; in no rate" for why, number in reasons)


def _stopped(summary: Summary) -> str:
    stopped = summary.stopped
    if stopped is None:
        return ""
    cause = f": {printable_line(stopped.cause)}" if stopped.cause else ""
    return f"{words(stopped.reason)}{cause}"


def _solved(summary: Summary) -> str:
    several = summary.pass_at_1 is not None and summary.graded > summary.pass_at_1.problems
    noun = " samples" if several else ""
    return f"{summary.verdicts.get('accepted', 0):,} of {summary.graded:,}{noun}"


def _unless_all(rate: Rate | None, summary: Summary, note: str = "of {}") -> str | None:
    """Return a note on a rate over other problems or by another rule; None if it is the same."""
    if rate is None or rate == summary.pass_at_1:
        return None
    return note.format(count(rate.problems, "problem"))


def _of_several(summaries: Sequence[Summary]) -> Iterator[Fact]:
    """Yield pass@k and pass^k for each k that any run has."""
    steps = sorted({each.k for summary in summaries for each in summary.of_several})
    for sign in ("@", "^"):
        for k in steps:
            yield Fact(
                *(f"pass{sign}{k}", f"pass{sign}{k}"),
                "rate",
                partial(_rate_of_several, k, sign),
                sentence=partial(_too_few, k, sign),
                note=lambda _: "",
            )


def _several(k: int, summary: Summary) -> OfSeveral | None:
    return next((each for each in summary.of_several if each.k == k), None)


def _rate_of_several(k: int, sign: str, summary: Summary) -> Rate | None:
    of_k = _several(k, summary)
    if of_k is None:
        return None
    return of_k.any_right if sign == "@" else of_k.all_right


def _too_few(k: int, sign: str, summary: Summary) -> str:
    of_k = _several(k, summary)
    if of_k is None or not of_k.too_few or sign == "^":
        return ""
    few = count(of_k.too_few, "problem")
    return f"{UNKNOWN} for {few} with fewer samples; in no such rate"


def _iterated(summary: Summary) -> Curve | None:
    """Return the run's curve; None if there was no more than one answer, or none is known."""
    return summary.curve if summary.curve and summary.curve.iterated else None


def _of_curve(key: str, noun: str, text: str, summary: Summary) -> str:
    """Return a number of samples in words; empty if it is 0 or nothing was iterated."""
    number = getattr(_iterated(summary), key, 0)
    return text.format(count(number, noun)) if number else ""


def _first_attempt(summary: Summary) -> str:
    curve = summary.curve
    unknown = curve.without_first_write if curve else 0
    rate = rate_words(curve.first_write if curve else None)
    return f"{rate}, {unknown:,} {UNKNOWN}" if unknown else rate


def _first_attempts_unknown(summary: Summary) -> str:
    curve = summary.curve
    if curve is None:
        return f"{UNKNOWN}; the results are of a version that did not keep it"
    older, others = curve.without_steps, curve.first_write_unknown
    kept = f"{UNKNOWN} for {count(older, 'sample')} of a version that did not keep it"
    lines = [f"{kept}; in no such share"] if older else []
    lines += [f"{UNKNOWN} for {count(others, 'sample')}; not in its rate"] if others else []
    return "\n".join(lines)


def _first_attempt_note(summary: Summary) -> str | None:
    curve = _iterated(summary)
    if curve is None:
        return None
    if curve.first_write is None:
        return "the first revisions' programs are not in the run"
    missing = curve.without_first_write
    return iterating_words(curve) + (f"; {missing:,} {UNKNOWN}" if missing else "")


def _iterating(summary: Summary) -> str | None:
    """Return what iterating gained and lost; None if it is unknown."""
    curve = summary.curve
    if curve is None or (curve.iterated and curve.first_write is None):
        return None
    return iterating_words(curve).removeprefix("iterating ") if curve.iterated else "none"


def _later(facts: LoopFacts) -> str:
    """Return what the requests after each sample's first brought."""
    if not facts.later:
        return ""
    parts = [f"{facts.new_programs:,} with a new program"]
    parts += [
        told
        for number, told in (
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


def _overfit(summary: Summary) -> str:
    return f"{summary.overfit:,} of {summary.passed_public:,} that pass the public tests"


def _tokens(summary: Summary) -> str:
    usage, unknown = summary.usage, f"{UNKNOWN} for {count(summary.usage_unknown, 'sample')}"
    if summary.usage_unknown and not usage.total_tokens:
        return unknown
    text = f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"
    if usage.cached_input_tokens:
        text += f", {usage.cached_input_tokens:,} of the input cached"
    text = f"{usage.total_tokens:,} ({text})"
    return f"{text}; {unknown}" if summary.usage_unknown else text


def _cut_off(summary: Summary) -> str:
    if not summary.cut_off:
        return NONE
    answers, samples = count(summary.cut_off, "answer"), count(summary.cut_off_samples, "sample")
    return f"{answers} in {samples}, by the token limit (--max-tokens: {limit_words(summary)})"


def _written_tests(summary: Summary) -> str:
    """Return the number of tests that the model wrote, and the share of wrong ones."""
    written = summary.written_tests
    if written is None:
        return ""
    text = f"{count(written.total, 'test')} by the model"
    if not written.checked:
        return f"{text}; no right solution to check them by"
    share = percent(written.wrong / written.checked)
    of = f"{written.wrong:,} of {written.checked:,}"
    return f"{text}; {of} that could be checked are wrong ({share})"


FACTS: Facts = (
    Fact("problems", "problems", shown=PAGES),
    Fact(
        "graded",
        "samples",
        text=lambda s: f"{s.graded:,} graded of {s.planned:,}",
        always=True,
        whole=True,
    ),
    Fact(
        "untested",
        "ungraded",
        sentence=lambda s: f"{s.untested:,} (no tests, or not run); in no rate",
        whole=True,
    ),
    Fact(
        "pending",
        "pending",
        "counts",
        lambda s: {reason_text(why): number for why, number in s.pending.items()},
        sentence=_pending,
        shown=OF_RUN,  # a comparison has its own count, and bounds
    ),
    Fact("stopped", "stopped early", "words", _stopped),
    Fact("unheard", "answers unheard", sentence=lambda s: unheard_words(s.unheard), whole=True),
    Fact("pass_at_1", "pass@1", "rate", note=_solved, always=True),
    Fact(
        "without_known_issues",
        "without known issues",
        "rate",
        note=lambda s: _unless_all(s.without_known_issues, s),
    ),
    Fact(
        "first_attempt",
        "first attempt",
        "rate",
        lambda s: s.curve.first_write if s.curve else None,
        text=_first_attempt,
        sentence=_first_attempts_unknown,
        note=_first_attempt_note,
        tells=lambda s: _iterated(s) or (not s.curve and s.model_calls > s.graded + s.ungraded),
    ),
    Fact("iterating", "iterating", "words", _iterating, tells=_iterated),
    Fact("later", "requests after the first", "words", lambda s: _later(s.loop)),
    *(
        Fact(key, name, "words", partial(_of_curve, key, noun, text), shown=DETAILS)
        for key, name, noun, text in OF_CURVE
    ),
    _of_several,
    Fact(
        "overfit_rate",
        "fail a hidden test",
        "part",
        text=lambda s: f"{_overfit(s)}, {rate_words(s.overfit_rate)}",
        note=lambda s: _overfit(s) if s.overfit else None,
    ),
    Fact("with_hidden", "with hidden tests", "rate", note=lambda s: _unless_all(s.with_hidden, s)),
    Fact(
        "without_fallback",
        "without fallback",
        "rate",
        lambda s: s.without_fallback if s.fallback else s.pass_at_1,
        note=lambda s: _unless_all(s.without_fallback, s, "of {} asked with tools"),
        tells=lambda s: s.fallback,
    ),
    Fact(
        "by_source_rule",
        "source's rule",
        "rate",
        note=lambda s: _unless_all(s.by_source_rule, s, "as the benchmark's authors judge"),
    ),
    Fact(
        "mean_fraction",
        "tests passed",
        "share",
        text=lambda s: f"{percent(s.mean_fraction or 0)} of a problem's, on average",
        shown=OF_RUN,
    ),
    Fact("mean_score", "points of a full score", "share"),
    Fact(
        "no_hidden",
        "no hidden tests",
        value=lambda s: None if s.graded and s.mean_fraction is None else s.no_hidden,
        text=lambda s: count(s.no_hidden, "problem"),
        sentence=lambda s: count(s.no_hidden, "problem") if s.no_hidden else "",
        always=True,
        shown=OF_RUN,
    ),
    Fact("verdicts", "verdicts", "counts", shown=DETAILS),
    Fact("stop_reasons", "stopped by", "counts", shown=DETAILS),
    Fact("tokens", "tokens", "words", _tokens, always=True, whole=True),
    Fact(
        "cost",
        "cost",
        "dollars",
        text=lambda s: dollars(s.cost, s.prices_as_of),
        always=True,
        whole=True,
    ),
    Fact(
        "cost_per_solved",
        "cost per solved",
        "dollars",
        lambda s: 1 / s.solved_per_dollar if s.solved_per_dollar else None,
    ),
    Fact("solved_per_dollar", "solved per dollar", "quotient"),
    Fact("solved_per_1000_tokens", "solved per 1,000 tokens", "quotient"),
    Fact(
        "model_calls",
        "model calls",
        value=lambda s: s.model_calls or None,
        always=True,
        shown=OF_RUN,
    ),
    Fact(
        "tool_calls",
        "tool calls",
        value=lambda s: s.tool_calls if s.model_calls else s.tool_calls or None,
        always=True,
        shown=OF_RUN,
    ),
    Fact("well_formed_tool_calls", "tool calls well-formed", "share"),
    Fact("malformed_tool_calls", "malformed tool calls", shown=OF_RUN),
    Fact("salvaged", "salvaged from prose", shown=OF_RUN),
    Fact("salvaged_from_calls", "salvaged from failed calls", shown=OF_RUN),
    Fact("nudges", "reminders", shown=OF_RUN),
    Fact("refused", "refusals", shown=OF_RUN),
    Fact(
        "cut_off",
        "answers cut off",
        value=lambda s: s.cut_off if s.model_calls else s.cut_off or None,
        text=_cut_off,
        sentence=lambda s: _cut_off(s) if s.cut_off else "",
        always=True,
        shown=OF_RUN,
    ),
    Fact("written_tests", "written tests", "words", _written_tests, shown=OF_RUN),
    Fact(
        "tool_protocols",
        "handed in",
        "counts",
        lambda s: {PROTOCOLS[name]: number for name, number in s.tool_protocols.items()},
        tells=lambda s: "text" in s.tool_protocols or s.fallback,
        shown=OF_RUN,
    ),
    Fact("fallback", "asked without tools", shown=OF_RUN),
    Fact("agents", "agent", "counts", shown=OF_RUN),
    Fact(
        "judged_again",
        "judged again",
        "words",
        lambda s: judged_again(s.judged_again).get("judged again", ""),
        shown=DETAILS,
    ),
    Fact(
        "sandbox_failed",
        "sandbox",
        "words",
        lambda s: judged_again(s.judged_again).get("sandbox", ""),
        shown=DETAILS,
    ),
    Fact(
        "isolation",
        "sandbox level",
        "counts",
        sentence=lambda s: sandbox_level(s.isolation).get("sandbox level", ""),
        shown=OF_RUN,
    ),
)
"""The facts in the order in which they are shown."""
