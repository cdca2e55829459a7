"""The final screen of a run: results and any trouble."""

import json
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.models.route import is_local
from harness.run.store.origin import is_replay
from harness.run.summary.loaded_run import Run, measured_words, read_run
from harness.run.summary.summary import Summary
from harness.terminal.consoles import write_json
from harness.terminal.pending_lines import pending_lines
from harness.terminal.summary_screen import summary_screen
from harness.text import printable_line

COLUMNS = 80


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
