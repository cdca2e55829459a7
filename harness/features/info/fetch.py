"""`harness fetch`: download a benchmark's data."""

from typing import Annotated

import typer
from rich import box
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from harness.cli.shared_flags import Benchmark, Named, named_benchmark, with_progress_flags
from harness.figures import bad_rows, count
from harness.frozen import Frozen
from harness.sources.benchmarks import fetch as fetch_files
from harness.sources.benchmarks import load
from harness.sources.files.hub import HubFile
from harness.terminal.consoles import console, write_json
from harness.terminal.progress import LoadingBar
from harness.text import printable_line

SCHEMA = 1


class FetchedFile(Frozen):
    """A file, and its size in bytes."""

    name: str
    sha256: str
    bytes: int


class Fetched(Frozen):
    """What `harness fetch --json` prints: the files, and what they hold."""

    schema_version: int = SCHEMA
    files: tuple[FetchedFile, ...]
    problems: int
    bad_rows: tuple[str, ...]


def _sizes_table(files: list[HubFile]) -> Table:
    table = Table("file", "size", "sha256", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[0].overflow = "fold"
    for file in files:
        row = (printable_line(file.name), decimal(file.size), file.sha256[:16])
        table.add_row(*map(Text, row))
    return table


@with_progress_flags
def fetch(
    spec: Named = None,
    benchmark: Benchmark = None,
    *,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Hash every file again, and replace those that were altered."
        ),
    ] = False,
    update: Annotated[
        bool,
        typer.Option("--update", help="Use the newest commit, not the one that was fetched first."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Download a benchmark's data; afterwards it loads without a network."""
    spec = named_benchmark(spec, benchmark)
    out, err = console(), console(error=True)
    with LoadingBar(err) as watch:
        files = fetch_files(spec, watch=watch, verify=verify, update=update)
        loaded = load(spec, skip_bad_rows=True, watch=watch)
    if as_json:
        fetched = Fetched(
            files=tuple(
                FetchedFile(name=file.name, sha256=file.sha256, bytes=file.size) for file in files
            ),
            problems=len(loaded.problems),
            bad_rows=tuple(map(str, loaded.skipped)),
        )
        write_json(out, [fetched.model_dump_json()])
        return
    out.print(_sizes_table(files))
    out.print(f"{count(len(loaded.problems), 'problem')}, {decimal(sum(f.size for f in files))}")
    if loaded.skipped:
        err.print(bad_rows(loaded.skipped))
