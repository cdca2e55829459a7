"""Import of agent runs: read, match, judge every revision, write a run."""

import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.agent import events
from harness.agent.strategies.modes import LOOP, mode_named
from harness.errors import RunDirectoryError, UsageError
from harness.features.grade.sample_judgements import Failure, SampleJudgements, SampleToJudge
from harness.features.grade.solutions import unmatched_words
from harness.features.import_.imported_sample import WRITE_TOOLS, ImportedSample, WriteTool
from harness.features.import_.judgements import Compared, ImportedGrades
from harness.features.import_.sample_finder import Finder, read_samples
from harness.features.import_.trajectory import Trajectory
from harness.features.import_.trajectory_file import TrajectoryFile
from harness.figures import count
from harness.grading.verdict import Verdict
from harness.languages import PYTHON
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import Usage
from harness.problem import Problem
from harness.run.engine.manifest import SCHEMA, surroundings, test_limits
from harness.run.plan.judging_options import judging_of
from harness.run.plan.languages import check_language, check_settings_of
from harness.run.plan.problem_kinds import check_settings, check_tested, rules_of
from harness.run.reporter import Reporter
from harness.run.session.isolation import isolate
from harness.run.session.judging_session import JudgingSession, judging
from harness.run.settings.given import Given
from harness.run.settings.keys import JudgingKeys
from harness.run.settings.spec import RunSpec, known_keys, read_spec, refuse_ineffective
from harness.run.store.directory import (
    MANIFEST,
    RESULTS,
    SUMMARY,
    RunDirectory,
    check_begun,
    check_new,
    has_run,
    read_manifest,
)
from harness.run.store.origin import HERE
from harness.run.store.planned_samples import of_file, planned_samples
from harness.run.store.transcripts import FOLDER
from harness.run.summary.summary import Summary, summarize
from harness.sources.files.rows import Loaded


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import, for the command and the library.

    Attributes:
        file: the file, or a folder.
        out: the run directory to create; one that was begun goes on, if it is of agent runs.
        benchmark: the problems' `NAME[:WHERE]`; None if they share none.
        load: loads the problems; it is told whether to skip malformed rows.
        keys: the given keys of the spec.
        format: one of `FORMATS`; None to look into the file.
        write_tools: names of tools that take the solution; if empty, this program's own.
        problem_field: path of the field that names the problem.
    """

    file: Path
    out: Path
    benchmark: str | None
    load: Callable[[bool], Loaded]
    keys: Mapping[str, Any]
    format: str | None = None
    write_tools: Sequence[str] = ()
    problem_field: str | None = None

    def spec(self, **more: Any) -> RunSpec:
        """Return the spec with additional keys. Raises UsageError."""
        named = {} if self.benchmark is None else {"benchmark": self.benchmark}
        return read_spec(None, Given.of(self.keys).over(Given(named, {})).with_flags(**more))

    @property
    def judging(self) -> Given:
        """The given keys of judging."""
        return Given.of(self.keys).without(self.keys.keys() - JudgingKeys.__annotations__)

    def problems(self) -> Loaded:
        """Load the problems. Raises HarnessError."""
        return self.load(self.spec().skip_bad_rows)


class Imported(NamedTuple):
    """Result of importing a file.

    Attributes:
        path: directory of the new run.
        left_out: names of problems in the file that match none, or several, with the number of
            solutions.
        total: number of solutions in the file.
        compared: solutions with a published verdict that were judged here, by this call or before.
        failures: samples not judged: sample, verdict and cause.
        interrupted: whether an interrupt ended the work.
    """

    path: Path
    summary: Summary
    left_out: Mapping[str, int]
    total: int
    compared: Sequence[Compared] = ()
    failures: Sequence[Failure] = ()
    interrupted: bool = False


def import_trajectories(
    request: ImportRequest, file: TrajectoryFile, reporter: Reporter, tell: Callable[[str], None]
) -> Imported:
    """Make a run of a file of agent runs.

    Args:
        request: what to import.
        file: its file, with the format.
        reporter: shows the progress.
        tell: called with a line on how much will be judged.

    Raises:
        UsageError: a value is not accepted, or a file cannot be opened.
        DataError: a row of either file is malformed.
        NothingSelectedError: no trajectory belongs to any of the problems, or none has a test.
        RunDirectoryError: `out` is another run.
        StorageError: the disk refused to write.
    """
    how = judging(request.judging)
    refuse_ineffective(request.spec())  # report a wrong key before a large file is read
    origin = _origin(request, file)
    _check_place(request.out, origin)
    tools = tuple(map(WriteTool.read, request.write_tools)) or WRITE_TOOLS
    loaded = request.problems()
    extract = str(request.keys.get("extract") or "harness")
    finder = Finder(loaded.problems, extract, tools, request.keys.get("language") or PYTHON)
    samples_read = read_samples(file, finder)
    samples, unmatched = samples_read.samples, samples_read.unmatched
    if unmatched:
        skipped = unmatched.total()
        every = count(skipped + len(samples), "trajectory", "trajectories")
        reporter.notice(f"{skipped:,} of {every} skipped: {unmatched_words(list(unmatched))}")
    there = tuple({each.problem.id: each.problem for each in samples}.values())
    check_tested(there)
    mode = mode_named(samples_read.mode())
    own = mode.name if mode.built_in and mode.asks else LOOP.name
    stem = file.path.name.partition(".")[0] or "unknown"
    most, numbers = of_file((each.problem.id, each.index) for each in samples)
    counts = {
        "model": request.keys.get("model") or samples_read.model(file.path) or stem,
        "mode": request.keys.get("mode") or own,
        "samples_per_problem": most,
    }
    spec = request.spec(**counts)
    if spec.price is not None and not all(each.spent.split for each in samples):
        raise UsageError(
            "--price: the file does not tell input from output tokens; leave it out, or give "
            '"tokens": {"input": …, "output": …}'
        )
    rules = rules_of(there, spec.language)
    check_settings(rules, how.given)
    check_settings_of(spec)
    check_language(spec.language, there, flags=spec.flags)
    session = how._replace(options=judging_of(spec))
    if rules.runs_code:
        session = session.for_problems(there, request.benchmark or "fixture", reporter)
    choice = isolate(reporter, session.least, unsafe=session.unsafe)
    made_by = {**_manifest(origin, loaded, there, spec, session), **numbers}
    with _opened(request.out, {**made_by, **surroundings(choice)}) as directory:
        done = {result.sample for result in directory.committed()}
        tell(_plan(samples, done))
        write_transcripts(directory, file, finder, done, spec)
        price = None if spec.price is None else ListedPrice(**spec.price.model_dump())
        asked = [each for each in samples if each.name not in done and not each.error]
        grades = ImportedGrades(directory, price)
        judgements = SampleJudgements(
            [SampleToJudge(each.name, each.problem, each.codes, each.final) for each in asked],
            lambda place, own: grades.commit(asked[place], own),
        )
        interrupted = judgements.judge(rules, session, reporter)
        broken = Counter({"model_error": sum(bool(each.error) for each in samples)})
        results = directory.committed()
        summary = summarize(results, planned_samples(made_by), judgements.pending + broken)
        directory.write_summary(summary.model_dump(mode="json"))
    both = tuple(grades.compared(samples, results))
    failures = judgements.failures
    total = len(samples) + unmatched.total()
    return Imported(directory.path, summary, dict(unmatched), total, both, failures, interrupted)


def _plan(samples: Sequence[ImportedSample], done: set[str]) -> str:
    """Say in one line how much will be judged."""
    revisions = sum(len(each.revisions) for each in samples)
    failed = sum(bool(each.error) for each in samples)
    message = f"{count(len(samples), 'sample')} with {count(revisions, 'revision')}"
    if done:
        message += f", {len(done):,} judged before"
    if failed:
        message += f"; {failed:,} ended in an error by what the file says and stay pending"
    return message


def _origin(request: ImportRequest, file: TrajectoryFile) -> dict[str, Any]:
    """Return what `run.json` tells of the file."""
    return {
        "file": file.path.name,
        "sha256": file.sha256(),
        "format": file.format,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "write_tools": list(request.write_tools),
        "verdicts": HERE,
    }


def _manifest(
    imported: Mapping[str, Any],
    loaded: Loaded,
    problems: Sequence[Problem],
    spec: RunSpec,
    session: JudgingSession,
) -> dict[str, Any]:
    """Return the content of `run.json`, except the machine that judged."""
    price = spec.price.model_dump(mode="json") if spec.price else None
    return {
        **manifest_of(imported, loaded, problems, spec),
        "price": price,
        "test_limits": test_limits(problems, spec.test_timeout, session.options),
    }


@contextmanager
def _opened(path: Path, manifest: Mapping[str, Any]) -> Generator[RunDirectory]:
    """Create the run, or resume it if it is the same one; a failed start leaves nothing behind."""
    is_run = is_folder = False
    with suppress(OSError):  # told when it is made
        is_run, is_folder = (path / MANIFEST).exists(), path.is_dir()
    directory = _resumed(path, manifest) if is_run else RunDirectory.create(path, manifest)
    try:
        yield directory
    except Exception:
        if not is_run and not directory.committed():
            shutil.rmtree(path / FOLDER, ignore_errors=True)
            with suppress(OSError):
                for name in (RESULTS, SUMMARY, MANIFEST):
                    (path / name).unlink(missing_ok=True)
                if not is_folder:
                    path.rmdir()
        raise
    finally:
        directory.close()


def _check_place(path: Path, origin: Mapping[str, Any]) -> None:
    """Check that the run can be made at a path, or goes on there. Raises RunDirectoryError."""
    if not has_run(path):
        check_new(path)
        return
    _refuse_other_file(path, read_manifest(path), origin)
    check_begun(path)


def _refuse_other_file(path: Path, there: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
    kept = ("sha256", "format", "write_tools")
    imported: Mapping[str, Any] = there.get("imported") or {}
    if any(imported.get(key) != origin.get(key) for key in kept):
        raise RunDirectoryError(f"{path} is another run; choose another --out")


def _resumed(path: Path, manifest: Mapping[str, Any]) -> RunDirectory:
    """Open a run that was begun. Raises RunDirectoryError if it is another one."""
    there = read_manifest(path)
    _refuse_other_file(path, there, manifest["imported"])
    same = known_keys(there["spec"]) == known_keys(manifest["spec"])
    if not same or there["problems"] != manifest["problems"]:
        raise RunDirectoryError(f"{path} is another run; choose another --out")
    return RunDirectory.resume(path)


def transcript_of(
    trajectory: Trajectory,
    sample: ImportedSample,
    model: str,
    mode: str,
    language: str = PYTHON,
) -> Iterator[events.Event]:
    """Yield the events of a sample's transcript up to its grade.

    Args:
        trajectory: the trajectory with its conversation.
        sample: the sample made of it.
        model: model of the run.
        mode: mode of the run.
        language: language of its solutions.
    """
    yield events.SampleStart(
        sample=sample.name,
        problem_id=sample.problem.id,
        index=sample.index,
        mode=mode,
        model=model,
        problem_hash=sample.problem.content_hash,
        language=None if language == PYTHON else language,
    )
    number = 0
    for turn in trajectory.turns:
        number += turn.calls
        yield events.Request(turn=number, hash="", messages=turn.before)
        yield events.Response(turn=number, response=turn.answer)
        for result in turn.results:
            yield events.ToolResult(turn=number, result=result, seconds=0.0)
    yield events.SampleEnd(
        stop_reason=sample.stop_reason,
        chosen_by=sample.chosen_by,
        extraction=sample.extraction,
        usage=sample.spent.usage or Usage(),
    )
    if sample.error:
        yield events.NotGraded(verdict=Verdict.MODEL_ERROR, cause=sample.error)


def write_transcripts(
    directory: RunDirectory, file: TrajectoryFile, finder: Finder, done: set[str], spec: RunSpec
) -> None:
    """Write the conversations of all samples without a result.

    Args:
        directory: directory of the run.
        file: file of the trajectories.
        finder: the same finder as at the first reading.
        done: names of samples that have a result.
        spec: spec of the run.

    Raises:
        StorageError: the disk refused to write.
        DataError: the file has changed since it was read.
    """
    for trajectory, sample in finder.samples(file.trajectories(), Counter()):
        if sample.name in done:
            continue
        with directory.new_transcript(sample.problem.id, sample.index) as write:
            facts = str(spec.model), spec.mode, spec.language
            for event in transcript_of(trajectory, sample, *facts):
                write(event)


def manifest_of(
    imported: Mapping[str, Any], loaded: Loaded, problems: Iterable[Problem], spec: RunSpec
) -> dict[str, Any]:
    """Return what `run.json` tells of every run made elsewhere."""
    return {
        "schema": SCHEMA,
        "imported": imported,
        "spec": spec.model_dump(mode="json"),
        "price": None,
        "prompt": {"name": "unknown", "hash": "unknown"},
        "endpoint": None,
        "data": [
            {"name": each.name, "sha256": each.sha256, "bytes": each.size} for each in loaded.files
        ],
        "skipped_rows": [str(error) for error in loaded.skipped],
        "problems": {problem.id: problem.content_hash for problem in problems},
    }
