"""Prepare a new run or the rest of an existing one, and open its directory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from harness.agent.events import Response
from harness.errors import RunDirectoryError, UsageError
from harness.problem import Problem
from harness.run.engine.manifest import grown, is_other_code, manifest, refuse_other
from harness.run.plan.plan import Plan
from harness.run.store.directory import RESULTS, RunDirectory
from harness.run.store.results import SampleResult, read_results
from harness.run.store.transcript import file_name, sample_name
from harness.run.store.transcripts import Transcripts
from harness.sandbox.isolation import Level
from harness.sandbox.strongest import ChosenSandbox
from harness.sources.files.rows import Loaded

ERRORED, UNSOLVED = "errored", "unsolved"
Sample = tuple[Problem, int]
Read = Callable[[str], Loaded]


class PreparedRun(NamedTuple):
    """A run ready to start or resume; nothing has been requested or written yet.

    Attributes:
        plan: the run's plan.
        samples: the samples to do now.
        before: the manifest of a run to resume; None for a new run.
    """

    plan: Plan
    samples: Sequence[Sample]
    before: Mapping[str, Any] | None = None

    @property
    def least(self) -> Level:
        """Lowest acceptable sandbox level: the spec's, or that the run started with."""
        return self.plan.spec.require_isolation if self.before is None else level_of(self.before)


def going_on(
    plan: Plan, path: Path, before: Mapping[str, Any], only: Sequence[str] = ()
) -> PreparedRun:
    """Prepare the rest of an existing run, including any new samples.

    Args:
        plan: the plan requested now.
        path: the run directory.
        before: the run's manifest.
        only: selects among the remaining samples.

    Raises:
        RunDirectoryError: the plan is that of another run, or the user's own code as model has
            changed since its first answer.
        UsageError: `only` selects no remaining sample.
    """
    refuse_other(plan, before)
    done = list(read_results(path / RESULTS))
    left = _samples_left(plan, done)
    transcripts = Transcripts(path)
    if is_other_code(plan, before) and (done or _is_answered(transcripts)):
        raise RunDirectoryError(
            f"the code of {plan.model_name} has changed since this run began: that is another "
            "run; choose another --out"
        )
    chosen = _chosen_of(left, only, done, transcripts)
    return PreparedRun(plan, chosen, before)


def open_directory(prepared: PreparedRun, path: Path, choice: ChosenSandbox) -> RunDirectory:
    """Open the run's directory: a new one, or an existing one, updating its manifest.

    Raises:
        RunDirectoryError: the directory is not writable, or used by another process.
    """
    if prepared.before is None:
        return RunDirectory.create(path, manifest(prepared.plan, choice))
    directory = RunDirectory.resume(path)
    directory.write_manifest(grown(prepared.plan, prepared.before, works=bool(prepared.samples)))
    return directory


def level_of(manifest: Mapping[str, Any]) -> Level:
    """Return the sandbox level the run started with.

    Raises:
        RunDirectoryError: the manifest does not contain it.
    """
    try:
        return Level(manifest["sandbox"]["level"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(
            "run.json does not say under which sandbox level the run began; start a new run"
        ) from error


def _is_answered(transcripts: Transcripts) -> bool:
    """Whether a transcript holds an answer of the model."""
    for name in transcripts.names():
        with suppress(RunDirectoryError):  # broken transcripts are restarted
            if any(isinstance(event, Response) for event in transcripts.events(name)):
                return True
    return False


def _samples_left(plan: Plan, done: Iterable[SampleResult]) -> list[Sample]:
    """Return the samples without a result."""
    names = {result.sample for result in done}
    return [each for each in plan.samples if _name(each) not in names]


def _chosen_of(
    left: Sequence[Sample],
    only: Sequence[str],
    done: Iterable[SampleResult],
    transcripts: Transcripts,
) -> list[Sample]:
    """Return the selected remaining samples; the others stay pending.

    Args:
        left: samples without a result.
        only: `errored` for samples started before, `unsolved` for samples of problems not solved
            yet, or ids of problems and samples; empty for all.
        done: the results.
        transcripts: the run's transcripts.

    Raises:
        UsageError: an id matches no remaining sample.
    """
    words = [word.strip() for each in only for word in each.split(",") if word.strip()]
    if not words:
        return list(left)
    solved = {result.problem_id for result in done if result.solved}
    chosen: set[str] = set()
    for word in words:
        if word == ERRORED:
            matching = [each for each in left if transcripts.exists(file_name(each[0].id, each[1]))]
        elif word == UNSOLVED:
            matching = [each for each in left if each[0].id not in solved]
        else:
            matching = [each for each in left if word in _answers_to(each)]
            if not matching:
                raise UsageError(
                    f"--only {word[:200]}: no pending sample has that id; give errored, "
                    "unsolved, or the id of a problem or sample"
                )
        chosen |= {_name(each) for each in matching}
    return [each for each in left if _name(each) in chosen]


def _name(sample: Sample) -> str:
    return sample_name(sample[0].id, sample[1])


def _answers_to(sample: Sample) -> set[str]:
    problem, index = sample
    names = {problem.id, problem.native_id, *problem.aliases}
    return names | {sample_name(name, index) for name in names}
