"""`harness transcript`: find a sample and print its conversation."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import unquote

import typer
from pydantic_core import from_json

from harness.agent import events
from harness.cli.shared_flags import RunArgument
from harness.errors import RunDirectoryError, UsageError
from harness.excerpts import shorten
from harness.figures import count
from harness.grading.verdict import Grade
from harness.models.protocol import ModelTurn, ToolCall
from harness.models.reasoning_text import reasoning_text
from harness.run.store.directory import RESULTS, refuse_experiment
from harness.run.store.pending import reason_text
from harness.run.store.results import read_results
from harness.run.store.transcript import sample_name
from harness.run.store.transcript_contents import message_text
from harness.run.store.transcripts import FOLDER, Transcripts
from harness.text import printable, printable_line

LONGEST_THOUGHTS = 1_000
"""Characters of a turn's thoughts that are printed: their beginning and end. The viewer has all."""


def transcript_text(recorded: Iterable[events.Event]) -> str:
    """Return the conversation, turn by turn, then the verdict.

    The text contains no control characters. Text of the model, the provider or judged code is
    indented, or within a line of this program, so that it cannot look like a heading.
    """
    return printable("\n".join(line for event in recorded for line in _lines(event)))


def _lines(event: events.Event) -> Iterator[str]:
    match event:
        case events.SampleStart():
            settings = ", ".join(f"{key} {value}" for key, value in event.settings.items())
            yield printable_line(f"=== {event.sample}")
            in_language = f", in {event.language}" if event.language else ""
            yield printable_line(
                f"{event.mode}{in_language}, model {event.model}, "
                f"prompt {event.prompt or 'unknown'}"
            )
            yield from [printable_line(settings)] if settings else []
        case events.Request():
            for message in event.messages:
                yield from _said(message.role, message_text(message))
        case events.Response():
            yield from _turn(event.turn, event.response)
        case events.ToolResult():
            mark = " (error)" if event.result.is_error else ""
            yield from _said(
                f"{event.result.name} → {event.seconds:.2f} s{mark}", event.result.content
            )
        case events.Tested():
            yield from _said(f"public tests → {event.seconds:.2f} s", event.report)
        case events.SampleEnd():
            extraction = f", {event.extraction}" if event.extraction else ""
            solution = f"final solution: {event.chosen_by}{extraction}"
            yield f"\n=== stopped: {event.stop_reason}; {solution}"
            yield from _indented(event.error)
        case events.Graded():
            yield from _grade(event.grade)
        case _:
            yield from _note(event)


def _note(event: events.Event) -> Iterator[str]:
    """Yield the text of an event other than messages, tests and grades."""
    match event:
        case events.Unusable():
            yield from _said("an answer of no use", event.cause)
        case events.Retried():
            yield from _said(f"retry {event.attempt} after {event.wait_s:.1f} s", event.cause)
        case events.ToolProtocolChanged() | events.Refused():
            yield from _said(events.title_of(event), event.cause)
        case events.RanWrittenTests():
            yield from _said(f"tests of the model's own → {event.seconds:.2f} s", event.text)
        case events.AgentLeft():
            yield from _agent(event)
        case _:
            yield f"\n=== {_heading(event)}"
            yield from _indented(getattr(event, "cause", "") or getattr(event, "error", ""))


def _heading(event: events.Event) -> str:
    """Return what an event did to the sample."""
    match event:
        case events.PutOff():
            return f"the sample stays pending: {reason_text(event.reason)}"
        case events.Damaged():
            return f"line {event.line} of the transcript cannot be read"
        case _:
            return events.title_of(event)


def _agent(event: events.AgentLeft) -> Iterator[str]:
    """Yield how an external agent left, and its output beside its calls."""
    how = "" if event.exit_code is None else f", exit code {event.exit_code}"
    kept = "" if event.confined else "; it was not isolated from hidden tests"
    who = printable_line(event.client) or "an agent without a name"
    yield f"\n=== {who} left after {event.seconds:.1f} s{how}{kept}"
    for name in ("stdout", "stderr"):
        if text := getattr(event, name):
            yield from _said(f"its {name}", text)


def _grade(grade: Grade) -> Iterator[str]:
    yield f"\n=== verdict: {grade.verdict}"
    yield (
        f"public tests {grade.public_passed}/{grade.public_total}, "
        f"hidden tests {grade.hidden_passed}/{grade.hidden_total}"
    )
    failed = next((test for test in grade.tests if not test.passed), None)
    if failed is not None:
        where = "public" if failed.public else "hidden"
        yield f"first failure: {where} test {failed.index + 1}, {failed.verdict}"
        yield from _indented(failed.error)


def _turn(number: int, turn: ModelTurn) -> Iterator[str]:
    usage = turn.usage
    tokens = f", {usage.input_tokens} tokens in, {usage.output_tokens} out" if usage else ""
    cut = ", cut off by the token limit" if turn.cut_off else ""
    thoughts = reasoning_text(turn.reasoning).strip()
    if thoughts:
        size = count(len(thoughts), "character")
        yield from _said(f"turn {number}: thoughts, {size}", shorten(thoughts, LONGEST_THOUGHTS))
    yield from _said(f"turn {number}: model, {turn.latency_s:.2f} s{tokens}{cut}", turn.text)
    for call in turn.tool_calls:
        yield f"\n> {printable_line(call.name)}"
        yield from _indented(_arguments(call))


def _arguments(call: ToolCall) -> str:
    """Return a call's arguments: a single `code` argument as code, others unchanged."""
    try:
        values: Any = from_json(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return call.arguments
    if isinstance(values, dict) and list(cast("dict[str, Any]", values)) == ["code"]:
        return str(cast("dict[str, Any]", values)["code"])
    return call.arguments if values else ""


def _said(who: str, text: str) -> Iterator[str]:
    yield f"\n--- {printable_line(who)}"
    yield from _indented(text.strip("\n"))


def _indented(text: str) -> Iterator[str]:
    for line in text.split("\n") if text else []:
        yield f"    {line}" if line else ""


def find_transcript(run: Path, transcripts: Transcripts, sample: str) -> str:
    """Return the file name of a sample's transcript.

    The sample is given as `ID`, `ID#INDEX`, or by its id without the source.

    Raises:
        RunDirectoryError: the run has no transcripts.
        UsageError: there is no such sample, or several.
    """
    samples = _samples(run, transcripts)
    wanted = sample if "#" in sample else f"{sample}#0"
    matching = [name for name in samples if name == wanted or name.partition("/")[2] == wanted]
    if len(matching) == 1:
        return samples[matching[0]]
    if matching:
        raise UsageError(f"{sample!r} names several samples: {', '.join(matching)}")
    near = difflib.get_close_matches(wanted, samples, n=3, cutoff=0.4)
    hint = f"; near: {', '.join(near)}" if near else ""
    raise UsageError(f"{run} has no sample {sample!r}{hint}")


def sample_lines(run: Path, transcripts: Transcripts) -> Iterator[str]:
    """Yield a line for each sample that has started, with its verdict if graded."""
    results = {result.sample: result for result in read_results(run / RESULTS)}
    samples = [*_samples(run, transcripts)]
    width = max(map(len, samples), default=0)
    for sample in samples:
        result = results.get(sample)
        outcome = "pending"
        if result is not None:
            verdict, stop = (
                word.replace("_", " ") for word in (result.verdict, result.stop_reason)
            )
            outcome = f"{verdict:<14}  {stop:<19}  calls {result.model_calls:>2}"
        yield printable_line(f"{sample:<{width}}  {outcome}")


def _samples(run: Path, transcripts: Transcripts) -> dict[str, str]:
    """Return the file names of a run's transcripts, by sample."""
    names = transcripts.names()
    if not names and not (run / FOLDER).is_dir():
        refuse_experiment(run)
        raise RunDirectoryError(f"{run} is not a run: it has no {FOLDER}")
    samples: dict[str, str] = {}
    for name in names:
        problem, _, index = unquote(name.removesuffix(".jsonl")).rpartition("-")
        start = next(transcripts.events(name), None)  # the file name may be shortened
        if isinstance(start, events.SampleStart):
            samples[start.sample] = name
        elif index.isdigit():  # started, but no line written
            samples[sample_name(problem, int(index))] = name
    return samples


def transcript(
    run: RunArgument,
    sample: Annotated[
        str | None,
        typer.Argument(
            metavar="SAMPLE",
            help="A problem's id, or ID#INDEX. Without it: the samples, one a line.",
        ),
    ] = None,
) -> None:
    """Print a sample's conversation, or list a run's samples."""
    from harness.terminal.consoles import console

    out = console()
    transcripts = Transcripts(run)
    if sample is None:
        for line in sample_lines(run, transcripts):
            out.print(line, soft_wrap=True)
        return
    name = find_transcript(run, transcripts, sample)
    out.file.write(transcript_text(transcripts.events(name)) + "\n")
