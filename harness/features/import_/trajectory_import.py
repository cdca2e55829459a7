"""Import of agent runs: read, match, judge every revision, write a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.agent.strategies.strategies import STRATEGIES
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, RunDirectoryError, UsageError
from harness.features.grade.solutions import unmatched_words
from harness.features.import_.agreement import agreement_lines
from harness.features.import_.imported_sample import ImportedSample
from harness.features.import_.published_run import unknown_origin
from harness.features.import_.revisions import WRITE_TOOLS, WriteTool
from harness.features.import_.trajectory_file import TrajectoryFile
from harness.features.import_.trajectory_run import (
    Finder,
    Judgements,
    judge_answers,
    read_samples,
    with_problems,
    write_transcripts,
)
from harness.models.prices import ListedPrice
from harness.problem import Problem
from harness.run.engine.manifest import SCHEMA, surroundings, test_limits
from harness.run.plan.judging_options import judging_of
from harness.run.plan.problem_kinds import ProblemKind, check_settings, check_tested, rules_of
from harness.run.session.judging_session import JudgingSession, isolate, judge_jobs, vet
from harness.run.spec.spec import RunSpec, known_keys, read_spec
from harness.run.store.directory import MANIFEST, RunDirectory, read_manifest
from harness.run.store.origin import HERE
from harness.run.summary.summary import summarize
from harness.sources.files.rows import Loaded
from harness.terminal.progress import TerminalReporter, load_telling
from harness.terminal.run_outcome import print_summary
from harness.terminal.summary_table import console
from harness.text import count, printable_line


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Arguments of `harness import` for a file of agent runs.

    Attributes:
        problems: the benchmark and where its files are, as `NAME[:WHERE]`.
        out: the run directory to create or resume.
        keys: the given keys of the spec.
        write_tools: names of tools that take the solution; if empty, this program's own.
    """

    problems: str
    file: TrajectoryFile
    out: Path
    keys: Mapping[str, Any]
    write_tools: Sequence[str] = ()

    def spec(self, **more: Any) -> RunSpec:
        """Return the spec with additional keys. Raises UsageError."""
        return read_spec(None, {"benchmark": self.problems, **self.keys, **more})


def import_trajectories(request: ImportRequest, how: JudgingSession, *, as_json: bool) -> int:
    """Make a run of a file of agent runs and return the exit code.

    Args:
        request: what to import.
        how: the settings of judging.
        as_json: print the summary as one JSON object.

    Raises:
        UsageError: a value is not accepted, or a file cannot be opened.
        DataError: a row of either file is malformed.
        NothingSelectedError: no trajectory belongs to any of the problems, or none has a test.
        RunDirectoryError: `out` is another run.
        StorageError: the disk refused to write.
    """
    err = console(error=True)
    request.spec()  # report a wrong key before a large file is read
    tools = tuple(map(WriteTool.read, request.write_tools)) or WRITE_TOOLS
    loaded = load_telling(
        request.problems, err, skip_bad_rows=bool(request.keys.get("skip_bad_rows"))
    )
    finder = Finder(loaded.problems, str(request.keys.get("extract") or "harness"), tools)
    samples, unmatched, named = read_samples(request.file, finder)
    _tell_unmatched(err, unmatched)
    there = tuple({each.problem.id: each.problem for each in samples}.values())
    check_tested(there)
    mode = named.mode()
    told = {
        "model": request.keys.get("model") or named.model(request.file.path) or _stem(request),
        "mode": request.keys.get("mode") or (mode if mode in STRATEGIES else "agentic"),
        "samples_per_problem": max(each.index for each in samples) + 1,
    }
    spec = request.spec(**told)
    if spec.price is not None and not all(each.spent.split for each in samples):
        raise UsageError(
            "--price: the file does not tell input from output tokens; leave it out, or give "
            '"tokens": {"input": …, "output": …}'
        )
    rules = rules_of(there)
    check_settings(rules, how.said)
    judging = replace(how, options=judging_of(spec))
    if rules.runs_code:
        there = vet(there, judging, TerminalReporter(err))
        judging = judging.for_problems(there, request.problems, TerminalReporter(err))
        samples = with_problems(samples, there)
        finder = replace(finder, problems=[*there, *_others(loaded, there)])
    choice = isolate(TerminalReporter(err), judging.least, unsafe=judging.unsafe)
    made_by = _manifest(request, loaded, there, spec, judging)
    directory = _opened(request.out, {**made_by, **surroundings(choice)})
    try:
        done = {result.sample for result in directory.committed()}
        err.print(_plan(samples, done))
        write_transcripts(directory, request.file, finder, done, spec)
        price = None if spec.price is None else ListedPrice(**spec.price.model_dump())
        asked = [each for each in samples if each.name not in done and not each.error]
        judgements = Judgements(directory, asked, price)
        interrupted = _judge(judgements, rules, judging, err)
        pending = Counter(str(verdict) for _, verdict, _ in judgements.failures)
        pending += Counter({"model_error": sum(bool(each.error) for each in samples)})
        planned = len(there) * spec.samples_per_problem
        summary = summarize(directory.committed(), planned, pending)
        directory.write_summary(summary.model_dump(mode="json"))
    finally:
        directory.close()
    print_summary(console(), summary, directory.path, as_json=as_json)
    for line in agreement_lines(judgements.compared):
        err.print(line, soft_wrap=True)
    if interrupted:
        err.print("interrupted; run the same command again to continue")
        return INTERRUPTED
    return _told_failures(err, judgements)


def _judge(
    judgements: Judgements, rules: ProblemKind, judging: JudgingSession, err: Console
) -> bool:
    """Judge every revision; return whether the user interrupted it."""
    jobs = judgements.jobs()
    if rules.runs_code:
        return judge_jobs(jobs, judging, TerminalReporter(err), "revisions", judgements.keep)
    for judged in judge_answers(jobs):
        judgements.keep(judged)
    return False


def _told_failures(err: Console, judgements: Judgements) -> int:
    if not judgements.failures:
        return OK
    sample, _, cause = judgements.failures[0]
    err.print(
        f"{count(len(judgements.failures), 'sample')} not judged, the first, "
        f"{printable_line(sample)}, because: {printable_line(cause)}; the same command tries again",
        soft_wrap=True,
    )
    return INFRASTRUCTURE


def _stem(request: ImportRequest) -> str:
    """Return a model name made of the file name, if no other name is known."""
    return request.file.path.name.partition(".")[0] or "unknown"


def _others(loaded: Loaded, there: Sequence[Problem]) -> list[Problem]:
    known = {problem.id for problem in there}
    return [problem for problem in loaded.problems if problem.id not in known]


def _plan(samples: Sequence[ImportedSample], done: set[str]) -> str:
    """Say in one line how much will be judged."""
    revisions = sum(len(each.revisions) for each in samples)
    failed = sum(bool(each.error) for each in samples)
    words = f"{count(len(samples), 'sample')} with {count(revisions, 'revision')}"
    if done:
        words += f", {len(done):,} judged before"
    if failed:
        words += f"; {failed:,} ended in an error by what the file says and stay pending"
    return words


def _tell_unmatched(err: Console, unmatched: Counter[str]) -> None:
    if unmatched:
        number = count(unmatched.total(), "trajectory", "trajectories")
        err.print(f"{number} left out, {unmatched_words(list(unmatched))}", soft_wrap=True)


def _manifest(
    request: ImportRequest,
    loaded: Loaded,
    problems: Sequence[Problem],
    spec: RunSpec,
    judging: JudgingSession,
) -> dict[str, Any]:
    """Return the content of `run.json`, except the machine that judged."""
    price = spec.price.model_dump(mode="json") if spec.price else None
    return {
        "schema": SCHEMA,
        "imported": {
            "file": request.file.path.name,
            "sha256": request.file.sha256(),
            "format": request.file.format,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "write_tools": list(request.write_tools),
            "verdicts": HERE,
        },
        "spec": spec.model_dump(mode="json"),
        **unknown_origin(loaded, problems),
        "price": price,
        "test_limits": test_limits(problems, spec.test_timeout, judging.options),
    }


def _opened(path: Path, manifest: Mapping[str, Any]) -> RunDirectory:
    """Create the run, or resume it if it is the same one."""
    if not (path / MANIFEST).exists():
        return RunDirectory.create(path, manifest)
    there = read_manifest(path)
    kept = ("sha256", "format", "write_tools")
    facts = [[each.get("imported", {}).get(key) for key in kept] for each in (there, manifest)]
    same = known_keys(there["spec"]) == known_keys(manifest["spec"])
    if facts[0] != facts[1] or not same or there["problems"] != manifest["problems"]:
        raise RunDirectoryError(f"{path} is another run; give another --out")
    return RunDirectory.resume(path)
