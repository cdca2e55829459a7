"""The command `harness export`: write a run in another format."""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli import completion
from harness.errors import UsageError
from harness.features.export.conversations import atif_text, chat_text
from harness.features.export.inspect_log import write_inspect
from harness.features.export.livecodebench import LiveCodeBenchFiles, eval_all_text
from harness.features.export.sample_rows import csv_text, junit_text, write_parquet
from harness.problem import Problem
from harness.run.summary.loaded_run import Run, read_run
from harness.terminal.progress import load_with_bar
from harness.terminal.summary_table import console
from harness.text import count, printable_line

FORMATS = ("csv", "parquet", "junit", "lcb", "inspect", "atif", "openai-messages")


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run directory.", autocompletion=completion.runs)
    ],
    to: Annotated[str, typer.Option("--to", metavar="|".join(FORMATS), help="The format.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Where to; standard output if not given, but for parquet and inspect. For lcb a "
            "folder gets all of LiveCodeBench's files, a file its _eval_all.json.",
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--benchmark",
            metavar="NAME[:WHERE]",
            help="For lcb, which needs their statements: where the problems are by now.",
        ),
    ] = None,
) -> None:
    """Write a run's samples for a spreadsheet, a data frame, CI, or another harness.

    csv, parquet: a row a sample. junit: a test case a sample, pending ones as errors. lcb:
    LiveCodeBench's output files. inspect: Inspect's .eval log. atif: JSONL, a trajectory a sample
    in the format of Harbor. openai-messages: JSONL, a conversation a sample.
    """
    export_run(run, to, out, benchmark)


TEXTS: Mapping[str, Callable[[Run], Iterable[str]]] = {
    "csv": csv_text,
    "junit": junit_text,
    "atif": atif_text,
    "openai-messages": chat_text,
}
FILES: Mapping[str, Callable[[Run, Path], None]] = {
    "parquet": write_parquet,
    "inspect": write_inspect,
}
ENDS = {"parquet": ".parquet", "inspect": ".eval"}


def export_run(path: Path, to: str, out: Path | None, benchmark: str | None) -> None:
    """Write a run in another format.

    Raises:
        UsageError: the format is unknown, or needs an output file.
        RunDirectoryError: the path is not a run, or the run lacks data that the format needs.
    """
    err = console(error=True)
    if to not in FORMATS:
        raise UsageError(f"--to {to!r}: known are {', '.join(FORMATS)}")
    if benchmark is not None and to != "lcb":
        raise UsageError("--benchmark goes with --to lcb, which alone needs the problems")
    run = read_run(path)
    if out is None and to in FILES:
        raise UsageError(f"--to {to} is no text: name its file with -o {run.name}{ENDS[to]}")
    if out is not None and out.is_dir() and to != "lcb":
        raise UsageError(f"{out} is a folder; name a file")
    if to in FILES and out is not None:
        _check_end(to, out)
        with _draft(out) as draft:
            FILES[to](run, draft)
        told = [out]
    elif to == "lcb":
        told = _write_lcb(run, _problems(run, benchmark, err), out)
    else:
        told = _write_text(TEXTS[to](run), out)
    left = run.planned - len(run.results)
    if left > 0 and to != "junit":
        err.print(f"{count(left, 'sample')} pending: not in it")
    for each in told:
        err.print(f"{count(len(run.results), 'sample')} in {printable_line(str(each))}")


def _check_end(to: str, out: Path) -> None:
    if to == "inspect" and out.suffix != ENDS[to]:
        raise UsageError(f"{out}: Inspect knows its logs by their end; name it {out.stem}.eval")


def _write_lcb(run: Run, problems: Mapping[str, Problem], out: Path | None) -> list[Path]:
    if out is not None and (out.is_dir() or not out.suffix):
        with _naming(out):
            return LiveCodeBenchFiles(run, problems).write(out)
    return _write_text(eval_all_text(run, problems), out)


def _problems(run: Run, benchmark: str | None, err: Console) -> dict[str, Problem]:
    spec = benchmark or str(run.spec.get("benchmark") or "fixture")
    wanted = {result.problem_id for result in run.results}
    skip = bool(run.spec.get("skip_bad_rows"))
    loaded = load_with_bar(spec, err, skip_bad_rows=skip)
    return {problem.id: problem for problem in loaded.problems if problem.id in wanted}


def _write_text(parts: Iterable[str], out: Path | None) -> list[Path]:
    """Write text atomically to a file, or to standard output."""
    if out is None:
        whole = iter(parts)
        first = next(whole, "")  # raises before anything is written if the run cannot be exported
        _write_out(first, whole)
        return []
    with _draft(out) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        for part in parts:
            file.write(part.encode("utf-8", "backslashreplace").decode())
    return [out]


def _write_out(first: str, rest: Iterable[str]) -> None:
    stream = console().file
    try:
        for part in (first, *rest):
            stream.write(part.encode("utf-8", "backslashreplace").decode())
        stream.flush()
    except BrokenPipeError:
        raise BrokenPipeError from None


@contextmanager
def _draft(out: Path) -> Generator[Path]:
    """Yield a temporary file beside `out` that replaces it once it is complete."""
    if not out.parent.is_dir():
        raise UsageError(f"{out}: there is no folder {out.parent}")
    draft = out.with_name(f".{os.getpid()}.{out.name}")
    try:
        with _naming(out, draft):
            yield draft
            draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _naming(out: Path, draft: Path | None = None) -> Generator[None]:
    """Give errors that name no file, or the temporary one, the name and the plain words of `out`.

    Those of a full disk name none. Raises OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in {None, str(draft)}:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(out)) from error
