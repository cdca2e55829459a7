"""`harness.import_run`: make a run of what others published, as `harness import` does.

Agent runs are judged here (`trajectory_import`). Solutions keep their published verdicts: such a
run has no transcripts, costs or times, and tokens only where the file tells them. For a solution
that failed, the tests on which it failed are unknown. `harness grade` judges the same solutions
here, as another run.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

from rich.console import Group, RenderableType

from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.agent.strategies.modes import SHOT
from harness.errors import NothingSelectedError, UsageError
from harness.features.grade.sample_judgements import Failure, failure_words
from harness.features.grade.solution_readers import read_solutions
from harness.features.grade.solutions import MatchedSolution, Published, match, unmatched_words
from harness.features.import_.judgements import Compared, agreement_lines
from harness.features.import_.trajectory_file import FORMATS, SOLUTIONS, TrajectoryFile, format_of
from harness.features.import_.trajectory_import import (
    Imported,
    ImportRequest,
    import_trajectories,
    manifest_of,
)
from harness.features.show.library import LoadedRun
from harness.figures import count
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.languages import PYTHON, LanguageName
from harness.models.prices.price import Price
from harness.models.protocol import Usage
from harness.problem import Problem
from harness.run.engine.manifest import SCHEMA
from harness.run.engine.sample import result_of
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, Reporter
from harness.run.settings.keys import JudgingKeys, Words
from harness.run.settings.python_arguments import names_of, path_of, spec_from
from harness.run.settings.python_messages import python_words
from harness.run.settings.python_signature import listing
from harness.run.settings.spec import RunSpec, given_as
from harness.run.store.directory import RunDirectory, check_new
from harness.run.store.origin import PUBLISHED
from harness.run.store.planned_samples import of_file, planned_samples
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import read_run
from harness.run.summary.summary import Summary, summarize
from harness.sources.files.rows import Loaded
from harness.text import printable_line
from harness.version import __version__

OWN = ("file", "problems", "out", "file_format", "model", "mode", "extract", "write_tool")
_UPSTREAM = re.compile(r"(_(?:Scenario\.)?[a-z]+_\d+_[\d.]+)?(_eval_all|_codeqwen)?$")
_NOTES = {
    "time limit exceeded": Verdict.TIME_LIMIT,
    "runtime error": Verdict.RUNTIME_ERROR,
    "compilation error": Verdict.COMPILE_ERROR,
}
"""Verdicts for LiveCodeBench's failure notes, except that for a wrong answer."""


class ImportKeys(JudgingKeys, total=False):
    """Keys of `import_run`: grading of agent runs, and malformed rows of the problems."""

    language: LanguageName
    cpp_flags: str | None
    skip_bad_rows: bool


class ImportedRun(LoadedRun):
    """A run made of what others published.

    Attributes:
        compared: solutions with a published verdict that were judged here, by this call or an
            earlier one, each with both verdicts.
        left_out: names of problems in the file that match none, or several, with the number of
            solutions.
        failures: samples not judged: sample, verdict and cause.
    """

    def __init__(self, imported: Imported) -> None:
        super().__init__(read_run(imported.path))
        self.compared: tuple[Compared, ...] = tuple(imported.compared)
        self.left_out: dict[str, int] = dict(imported.left_out)
        self.failures: tuple[Failure, ...] = tuple(imported.failures)

    @property
    def agreement(self) -> float | None:
        """The share of published verdicts that agree with those made here; None without any."""
        agree = sum(each.agrees for each in self.compared)
        return agree / len(self.compared) if self.compared else None

    def view(self) -> RenderableType:
        """Return what `harness import` prints."""
        return Group(super().view(), *agreement_lines(self.compared))


@listing(ImportKeys)
def import_run(
    file: str | Path,
    problems: Benchmark,
    out: str | Path,
    *,
    file_format: str | None = None,
    model: str | None = None,
    mode: str | None = None,
    extract: str = "harness",
    write_tool: Words = (),
    problem_field: str | None = None,
    price: Price | Mapping[str, float] | None = None,
    **keys: Unpack[ImportKeys],
) -> ImportedRun:
    """Make a run of what others published, to compare and report.

    Of agent runs every revision is judged, on hidden tests too. Solutions keep their published
    verdicts, and nothing is run: `regrade` then judges them.

    Args:
        file: agent runs, or solutions as `grade` takes them; of ATIF also a folder.
        problems: the problems that they are of: `NAME[:WHERE]`, loaded problems, or rows.
        out: directory of the new run; one of agent runs that was begun goes on.
        file_format: `solutions`, `revisions`, `messages`, `inspect`, `atif` or `verifiers`.
            Default: by what is in the file.
        model: who wrote the solutions. Default: as the file says, or its name.
        mode: how they were sought. Default: as the file says; else `agentic` for agent runs,
            `single_shot` for solutions.
        extract: rule that finds code in a model's words, where the file has no code.
        write_tool: of agent runs: tools that take the solution, `NAME`, `NAME.ARGUMENT` or `<TAG>`.
        problem_field: of agent runs: path of the field that names the problem.
        price: of agent runs: US dollars per million tokens, where the file tells no costs.
        keys: settings of judging, for agent runs, and `skip_bad_rows`.

    Raises:
        UsageError: an argument is not accepted, the file cannot be read, or `out` is another run.
        DataError: a row of the file, or of the problems, is malformed.
        NothingSelectedError: nothing in the file is for one of the problems.
        IsolationError: no sandbox of the required strength is available.
        KeyboardInterrupt: the user interrupted; the same call goes on.
    """
    spec = spec_from("import_run()", keys, ImportKeys, OWN)
    given = checked(problems)
    own = {"model": model, "mode": mode, "extract": extract, "price": price}
    request = ImportRequest(
        path_of("import_run()", "file", file),
        path_of("import_run()", "out", out),
        name_of(given),
        lambda _skip: read(given, spec),
        {**keys, **{key: value for key, value in own.items() if value is not None}},
        file_format,
        names_of("import_run()", "write_tool", write_tool),
        _field(problem_field),
    )
    try:
        with python_words("import_run()", **{"from": "file_format"}):
            imported = import_file(request, LOG)
    except KeyboardInterrupt:  # while it was prepared
        imported = None
    if imported is None or imported.interrupted:
        again = f"the same call, with out={str(request.out)!r}, goes on"
        raise KeyboardInterrupt(f"import_run(): interrupted; {again}")
    if imported.failures:
        LOG.notice(f"{failure_words(imported.failures, 'sample')}; the same call tries again")
    return ImportedRun(imported)


def _field(given: object) -> str | None:
    if not isinstance(given, str | None):
        raise UsageError("import_run(): problem_field: give a path, as 'metadata.task'")
    return given


def import_file(
    request: ImportRequest, reporter: Reporter, tell: Callable[[str], None] = lambda _line: None
) -> Imported:
    """Make a run of a file, for the command and the library.

    Args:
        request: what to import.
        reporter: shows the progress.
        tell: called with a line on how much will be judged.

    Raises:
        HarnessError: see `import_run`.
    """
    if request.format not in (None, *FORMATS):
        raise UsageError(f"--from {request.format!r:.40}: known are {', '.join(FORMATS)}")
    form = request.format or format_of(request.file)
    if form == SOLUTIONS:
        return _import_solutions(request, reporter)
    file = TrajectoryFile(request.file, form, request.problem_field)
    return import_trajectories(request, file, reporter, tell)


def _import_solutions(request: ImportRequest, reporter: Reporter) -> Imported:
    """Make a run of solutions with their published verdicts. Raises HarnessError."""
    _refuse_judging(request)
    check_new(request.out)
    file = request.file
    model = request.keys.get("model") or _model_of(file)
    spec = request.spec(model=model, mode=request.keys.get("mode") or SHOT.name)
    solutions = read_solutions(file)
    loaded = request.problems()
    matched, unmatched = match(solutions, loaded.problems, spec.extract)
    languages = {each.language for each in matched}
    if len(languages) > 1:
        raise UsageError(f"{file} has solutions in several languages, and a run has one")
    spec = spec.model_copy(update={"language": next(iter(languages), PYTHON)})
    if not matched:
        of = "" if request.benchmark is None else f" of {request.benchmark}"
        raise NothingSelectedError(
            f"none of {count(len(solutions), 'solution')} in {file} is for one of "
            f"{count(len(loaded.problems), 'problem')}{of}: the first is for "
            f"{solutions[0].name!r:.60}"
        )
    if unmatched:
        which = unmatched_words(list(dict.fromkeys(unmatched)))
        reporter.notice(
            f"{len(unmatched):,} of {count(len(solutions), 'solution')} skipped: {which}"
        )
    summary = _write_run(request.out, file, loaded, matched, spec)
    silent = sum(each.published is None for each in matched)
    if silent:
        reporter.notice(
            f"{count(silent, 'solution')} without a published verdict: ungraded; judge with: "
            f"harness grade {printable_line(str(request.out))}"
        )
    return Imported(request.out, summary, Counter(unmatched), len(solutions))


def _model_of(file: Path) -> str:
    """Return the model in a file name of LiveCodeBench: MODEL_SCENARIO_SAMPLES_TEMPERATURE_…."""
    stem = file.name.removesuffix(".gz").partition(".json")[0]
    return _UPSTREAM.sub("", stem) or stem


def _refuse_judging(request: ImportRequest) -> None:
    """Refuse settings of judging and of agent runs for a file of solutions. Raises UsageError."""
    given = {
        **request.judging,
        "write_tool": request.write_tools or None,
        "problem_field": request.problem_field,
        "price": request.keys.get("price"),
        "language": request.keys.get("language"),
        "cpp_flags": request.keys.get("cpp_flags"),
    }
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"{given_as(name, request.keys)}: the file holds solutions, whose published "
                "verdicts are kept and which have no turns; leave it out "
                "(harness grade judges them)"
            )


def _results(matched: Sequence[MatchedSolution]) -> Iterator[SampleResult]:
    """Yield each solution as a sample; ungraded if it has no published verdict.

    Samples with infrastructure failures are left out, as in any run.
    """
    for each in matched:
        problem, verdict = each.problem, _verdict(each.published)
        if verdict in INFRASTRUCTURE:
            continue
        attempt = Attempt(
            code=each.code,
            chosen_by=ChosenBy.ANSWER,
            extraction=each.extraction,
            stop_reason=StopReason.MODEL_STOPPED,
            usage=each.usage or Usage(),
            usage_known=each.usage is not None,
            model_calls=each.calls,
        )
        grade, written = Grade(verdict=verdict), int(bool(each.code))
        yield result_of(problem, each.index, attempt, grade, written=written)


def _verdict(published: Published | None) -> Verdict:
    """Convert a published verdict; a failure of unknown cause is a wrong answer."""
    if published is None:
        return Verdict.UNGRADED
    if published.verdict is not None:
        return published.verdict
    if published.passed:
        return Verdict.ACCEPTED
    return _NOTES.get(published.note.strip().lower(), Verdict.WRONG_ANSWER)


def _write_run(
    path: Path, file: Path, loaded: Loaded, matched: Sequence[MatchedSolution], spec: RunSpec
) -> Summary:
    """Write a run of the solutions of a file.

    Args:
        path: path of the run.
        file: file of the solutions.
        loaded: all loaded problems.
        matched: the solutions, each with its problem.
        spec: known settings under which the solutions were made.

    Raises:
        UsageError: `path` cannot hold a new run, or `file` cannot be read.
        StorageError: the disk refused to write.
    """
    problems = {each.problem.id: each.problem for each in matched}
    most, numbers = of_file((each.problem.id, each.index) for each in matched)
    spec = spec.model_copy(update={"samples_per_problem": most})
    made = {**_manifest(file, loaded, problems, spec), **numbers}
    directory = RunDirectory.create(path, made)
    try:
        results = list(_results(matched))
        for result in results:
            directory.results.append(result)
        summary = summarize(results, planned_samples(made))
        directory.write_summary(summary.model_dump(mode="json"))
    finally:
        directory.close()
    return summary


def _manifest(
    file: Path, loaded: Loaded, problems: Mapping[str, Problem], spec: RunSpec
) -> dict[str, Any]:
    """Return `run.json`'s content, without machine and sandbox, as nothing was run."""
    digest = TrajectoryFile(file, SOLUTIONS).sha256()
    imported = {"file": file.name, "sha256": digest, "verdicts": PUBLISHED}
    return {
        "schema": SCHEMA,
        "harness": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **manifest_of(imported, loaded, problems.values(), spec),
    }
