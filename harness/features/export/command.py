"""`harness export` and `harness.export_run`: write a run in another format."""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Annotated, overload

import typer

from harness.cli.shared_flags import RunArgument, with_progress_flags
from harness.errors import StorageError, UsageError
from harness.features.export.conversations import atif_text, chat_text
from harness.features.export.every_eval_ever import every_eval_ever_text
from harness.features.export.inspect_log import write_inspect
from harness.features.export.junit import junit_text
from harness.features.export.livecodebench import LiveCodeBenchFiles, eval_all_text
from harness.features.export.published_rate import eval_results_text
from harness.features.export.sample_rows import csv_text, write_parquet
from harness.features.show.library import LoadedRun
from harness.figures import count
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark, checked, read
from harness.run.reporter import LOG
from harness.run.settings.python_arguments import path_of
from harness.run.settings.python_messages import python_words
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import BATCHES, MANIFEST, RESULTS, SUMMARY
from harness.run.store.transcripts import FOLDER
from harness.run.summary.loaded_run import Run, read_run
from harness.sources.files.rows import Loaded
from harness.terminal.consoles import console, write_data
from harness.terminal.progress import TerminalReporter, load_with_bar
from harness.text import printable_line

FORMATS = (
    *("csv", "parquet", "junit", "lcb", "inspect", "atif", "openai-messages"),
    *("eval-results", "every-eval-ever"),
)
TEXTS: Mapping[str, Callable[[Run], Iterable[str]]] = {
    "csv": csv_text,
    "junit": junit_text,
    "atif": atif_text,
    "openai-messages": chat_text,
    "eval-results": eval_results_text,
    "every-eval-ever": every_eval_ever_text,
}
CONVERSATIONS = frozenset({"atif", "openai-messages"})
"""Formats with a line for each sample in which the model answered."""
FILES: Mapping[str, Callable[[Run, Path], None]] = {
    "parquet": write_parquet,
    "inspect": write_inspect,
}
OWN = frozenset({MANIFEST, RESULTS, SUMMARY, BATCHES, FOLDER})
"""Files of a run, and the folder of its transcripts, which nothing else may replace."""
ENDS = {"parquet": ".parquet", "inspect": ".eval"}
Load = Callable[[Run], Loaded]
"""Loads the problems of a run."""


@with_progress_flags
def export(
    run: RunArgument,
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="The format, by the names above.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="The file; default: standard output, except for parquet and inspect. For lcb a "
            "folder gets all of LiveCodeBench's files, a file its _eval_all.json.",
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--benchmark",
            metavar="NAME[:WHERE]",
            help="For lcb, which needs their statements: where the problems are now.",
        ),
    ] = None,
) -> None:
    """Write a run's samples for a spreadsheet, a data frame, CI, or another harness.

    csv, parquet: a row a sample. junit: a test case a sample, pending ones as errors. lcb:
    LiveCodeBench's output files. inspect: Inspect's .eval log. atif: JSONL, a trajectory a sample
    in the format of Harbor. openai-messages: JSONL, a conversation a sample. eval-results: YAML for
    .eval_results/ of a model on the Hugging Face hub. every-eval-ever: JSON of that project.
    """
    err = console(error=True)
    reporter = TerminalReporter(err)

    def load(run: Run) -> Loaded:
        named = benchmark or str(run.spec.get("benchmark") or "fixture")
        return load_with_bar(named, err, skip_bad_rows=bool(run.spec.get("skip_bad_rows")))

    check_format(to, benchmark)
    run_read = read_run(run)
    paths, text = export_as(run_read, to, out, load)
    if out is None:
        _print(text)
    if pending := _pending(run_read, to):
        err.print(pending)
    known = run_read.planned if to == "junit" else len(run_read.results)
    for each in paths:
        number = _lines_of(each) if to in CONVERSATIONS else known
        reporter.notice(f"{count(number, 'sample')} in {printable_line(str(each))}")
        if number < known:
            left = count(known - number, "graded sample")
            err.print(f"{left} without an answer of the model, or a transcript: not in it")


@overload
def export_run(
    run: str | Path | LoadedRun, to: str, out: None = None, *, benchmark: Benchmark | None = None
) -> str: ...
@overload
def export_run(
    run: str | Path | LoadedRun, to: str, out: str | Path, *, benchmark: Benchmark | None = None
) -> list[Path]: ...
def export_run(
    run: str | Path | LoadedRun,
    to: str,
    out: str | Path | None = None,
    *,
    benchmark: Benchmark | None = None,
) -> str | list[Path]:
    """Write a run's samples for a spreadsheet, CI, or another harness, as `harness export` does.

    For a data frame of the samples, take `load_run(run).to_pandas()`.

    Args:
        run: the run's directory, or what `load_run` returns, with its filters.
        to: `csv`, `parquet`, `junit`, `lcb`, `inspect`, `atif`, `openai-messages`, `eval-results`
            or `every-eval-ever`.
        out: the file; for `lcb` also a folder, which gets all of LiveCodeBench's files.
        benchmark: for `lcb`, which needs their statements: the problems, if they have moved:
            `NAME[:WHERE]`, loaded problems, or rows.

    Returns:
        The files written. Without `out` the text that the command prints, as it is parsed or shown
        at once in a notebook; `parquet` and `inspect` are not text, and need `out`.

    Raises:
        UsageError: an argument is not accepted, or a package is missing.
        RunDirectoryError: there is no such run, or it lacks data that the format needs.
        StorageError: the disk refused a write.
    """
    given = None if benchmark is None else checked(benchmark)

    def load(run: Run) -> Loaded:
        own = str(run.spec.get("benchmark") or "fixture")
        skip = bool(run.spec.get("skip_bad_rows"))
        return read(own if given is None else given, RunSpec(skip_bad_rows=skip))

    with python_words("export_run()", b="benchmark"):
        check_format(to, given)
        path = None if out is None else path_of("export_run()", "out", out)
        if isinstance(run, LoadedRun):
            run_read = run.run
        else:
            run_read = read_run(path_of("export_run()", "run", run))
        paths, parts = export_as(run_read, to, path, load)
        text = "".join(map(_writable, parts))
    if pending := _pending(run_read, to):
        LOG.notice(pending)
    return text if path is None else paths


def check_format(to: str, benchmark: object) -> None:
    """Check the format's name, and that it needs the problems if given. Raises UsageError."""
    if to not in FORMATS:
        raise UsageError(f"--to {to!r}: known are {', '.join(FORMATS)}")
    if benchmark is not None and to != "lcb":
        raise UsageError("--benchmark goes with --to lcb, which alone needs the problems")


def export_as(run: Run, to: str, out: Path | None, load: Load) -> tuple[list[Path], Iterable[str]]:
    """Write a run in another format, for the command and the library.

    Args:
        run: the run.
        to: one of `FORMATS`.
        out: the file or folder; None for a text in pieces.
        load: loads the run's problems, if the format needs them.

    Returns:
        The files written, and without `out` the text.

    Raises:
        HarnessError: see `export_run`.
    """
    if out is None and to in FILES:
        raise UsageError(
            f'--to {to} is not a text: name its file with --out="{run.name}{ENDS[to]}"'
        )
    is_folder = _is_folder(out)
    if is_folder and to != "lcb":
        raise UsageError(f"{out} is a folder; name a file")
    if out is not None:
        _refuse_own(out)
    if to in FILES and out is not None:
        if to == "inspect" and out.suffix != ENDS[to]:
            raise UsageError(f"{out}: Inspect knows its logs by their end; name it {out.stem}.eval")
        with _draft(out) as draft:
            FILES[to](run, draft)
        return [out], ()
    if to == "lcb":
        problems = _problems(run, load)
        if out is not None and (is_folder or not out.suffix):
            _refuse_own(out / "any.json")
            with _naming(out):
                return LiveCodeBenchFiles(run, problems).write(out), ()
        parts = eval_all_text(run, problems)
    else:
        parts = TEXTS[to](run)
    if out is None:
        return [], parts
    with _draft(out) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        file.writelines(map(_writable, parts))
    return [out], ()


def _is_folder(out: Path | None) -> bool:
    """Whether there is such a folder. Raises StorageError."""
    if out is None:
        return False
    with _naming(out):
        return out.is_dir()


def _refuse_own(out: Path) -> None:
    """Refuse a file that belongs to a run, this one or another. Raises UsageError."""
    folder = out.parent.resolve()
    for name, run in ((out.name, folder), (folder.name, folder.parent)):
        if name in OWN and (run / MANIFEST).exists():
            raise UsageError(f"{out} is one of a run's own files; choose another name")


def _problems(run: Run, load: Load) -> dict[str, Problem]:
    wanted = {result.problem_id for result in run.results}
    return {problem.id: problem for problem in load(run).problems if problem.id in wanted}


def _lines_of(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _pending(run: Run, to: str) -> str:
    """Say how many samples are not in the export; empty if it has all."""
    left = run.planned - len(run.results)
    return f"{count(left, 'sample')} pending: not in it" if left > 0 and to != "junit" else ""


def _writable(part: str) -> str:
    return part.encode("utf-8", "backslashreplace").decode()


def _print(parts: Iterable[str]) -> None:
    """Write a text to standard output."""
    whole = iter(parts)
    first = next(whole, "")  # raises before anything is written if the run cannot be exported
    write_data(console(), chain([first], whole))


@contextmanager
def _draft(out: Path) -> Generator[Path]:
    """Yield a temporary file beside `out` that replaces it once it is complete."""
    if not _is_folder(out.parent):
        raise UsageError(f"{out}: there is no folder {out.parent}")
    draft = out.with_name(f".{token_hex(8)}.{out.name[:40]}")  # of this call alone
    try:
        with _naming(out, draft):
            yield draft
            draft.replace(out)
    finally:
        with suppress(OSError):  # on a read-only disk also where there is none
            draft.unlink(missing_ok=True)


@contextmanager
def _naming(out: Path, draft: Path | None = None) -> Generator[None]:
    """Name `out` in errors that name no file, as those of a full disk, or the temporary one.

    Raises:
        StorageError: the disk refused a write.
    """
    try:
        yield
    except OSError as error:
        name = out if error.filename in {None, str(draft)} else error.filename
        message = str(error) if error.errno is None else os.strerror(error.errno)
        raise StorageError(f"{name}: {message}") from error
