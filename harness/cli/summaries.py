"""What a run came to, as a command prints it."""

import json
from pathlib import Path

from rich.console import Console

from harness.run.summary.summary import Summary
from harness.terminal.summary_table import summary_view, write_json


def print_summary(out: Console, summary: Summary, run: Path, *, as_json: bool) -> None:
    """The table and where the run is, or both as one JSON object."""
    if as_json:
        write_json(out, json.dumps({"run": str(run), **summary.model_dump(mode="json")}))
        return
    out.print(summary_view(summary))
    out.print(f"run directory: {run}", soft_wrap=True)
