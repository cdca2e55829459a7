"""Recordings as models: `replay:` and a run, a set of recordings, or `bundled`."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from harness.agent.attempt import StopReason
from harness.agent.events import (
    AgentLeft,
    Damaged,
    Event,
    Refused,
    Request,
    Response,
    SampleEnd,
    SampleStart,
    standing,
)
from harness.agent.journal import refusal_of
from harness.agent.strategies.modes import LOOP, mode_named
from harness.agent.templates.prompt_set import DEFAULT, find_templates
from harness.errors import UsageError
from harness.models.protocol import (
    ContextOverflowError,
    ModelError,
    ModelTurn,
    RecordingEndedError,
)
from harness.models.providers import REPLAY_PREFIX
from harness.models.replay import ReplayModel, plain_turn
from harness.models.servers import ASKED_FOR, LIMITS_OF_COST, SENDING, Server
from harness.run.settings.setting import is_said
from harness.run.settings.spec import SETTINGS, RunSpec, uses
from harness.run.store.directory import MANIFEST, read_manifest
from harness.run.store.transcript import sample_in
from harness.run.store.transcripts import FOLDER, Transcripts

if TYPE_CHECKING:
    from harness.run.plan.plan import Plan

BUNDLED = "bundled"
RECORDED_MODEL = "Qwen2.5-Coder-1.5B-Instruct"
"""Model whose answers are bundled."""
GROWN = "_grow"
"""Ends the folder of recordings of the agent loop in one conversation that grows."""
LIMITS = frozenset(reason for reason in StopReason if reason.endswith("_limit"))
BROUGHT = tuple(key for key, setting in SETTINGS.items() if setting.recorded)
"""Settings whose values a recording brings along."""


class Recordings(Server):
    """A run, or a set of recordings, that answers as its model did.

    A set of recordings is a folder with the transcripts of several runs of one model, in
    MODE/PROMPT/.

    Attributes:
        name: name of the model, `replay:PLACE`; PLACE is `bundled` for the bundled set.
        mode: the mode that is to be played, with its context; decides only in a set.
        prompt: the prompt set that is to be played; decides only in a set.
    """

    unsent: ClassVar[tuple[str, ...]] = (*SENDING, *ASKED_FOR)
    idle: ClassVar[tuple[str, ...]] = (*LIMITS_OF_COST, *BROUGHT)

    def __init__(self, name: str, mode: str, prompt: str = DEFAULT) -> None:
        self.name = name
        self.mode = mode
        self.prompt = prompt

    @classmethod
    def of(cls, name: str, spec: RunSpec) -> Self:
        """Return the recordings of a spec's mode, context and prompt set."""
        has_contexts = "context" in spec.known_mode.options
        grows = has_contexts and spec.context == "grow" and "context" not in spec.found
        return cls(name, f"{spec.mode}{GROWN}" if grows else spec.mode, spec.prompt)

    @cached_property
    def folder(self) -> Path:
        """Folder of the recording.

        Raises:
            UsageError: there are no transcripts, or the set has none of that mode and prompt.
        """
        where = self.name.removeprefix(REPLAY_PREFIX)
        if where == BUNDLED:
            with as_file(files("harness") / "fixtures" / "recordings") as folder:
                return self._in_set(folder)
        folder = Path(where)
        return folder if _holds_transcripts(folder) else self._in_set(folder)

    @cached_property
    def manifest(self) -> Mapping[str, Any] | None:
        """Manifest of the recorded run; None if it has none. Raises as `folder`."""
        return read_manifest(self.folder) if (self.folder / MANIFEST).is_file() else None

    def with_recorded(self, spec: RunSpec) -> RunSpec:
        """Return a spec with the settings that the recording brings along.

        Settings that the user gave stay as they are. A recording without a manifest says nothing.

        Raises:
            UsageError: as in `folder`.
        """
        if self.manifest is None:
            return spec
        recorded = self.manifest["spec"]
        kept = {
            key: recorded[key]
            for key in BROUGHT
            if key in recorded and uses(spec.mode, key) and not is_said(spec, key)
        }
        said = {**spec.model_dump(exclude_unset=True), **kept}
        return RunSpec.model_validate(said, context={"found": spec.found})

    def open(self) -> ReplayModel:
        """Return the model that plays the recording.

        Raises:
            UsageError: as in `folder`, or the run is of another mode.
        """
        if self.manifest is not None:
            mode = self.mode.removesuffix(GROWN)
            own = self.manifest["spec"].get("mode", self.mode)
            own = own if mode_named(own).asks else LOOP.name  # a user's own agent called tools, too
            if own != mode:
                raise UsageError(
                    f"{self.name} is a run of {own}: give --mode {own}, or another model"
                )
        return ReplayModel(self.name, read_turns(self.folder))

    def _in_set(self, recordings: Path) -> Path:
        """Return the folder of a set's recording of the mode and prompt.

        Raises:
            UsageError: there is none, or no such prompt set.
        """
        there = sorted(
            (each.parent.name, each.name)
            for each in recordings.glob("*/*")
            if _holds_transcripts(each)
        )
        if not there:
            raise UsageError(f"{self.name}: no transcripts there; give the directory of a run")
        if (self.mode, self.prompt) in there:
            return recordings / self.mode / self.prompt
        modes = sorted({each for each, _ in there})
        if self.mode not in modes:
            known = ", ".join(each for each in modes if not each.endswith(GROWN))
            raise UsageError(
                f"{self.name} has no recordings of {self.mode}; it has {known}. Name a model "
                "with -m"
            )
        prompts = [each for of, each in there if of == self.mode]
        find_templates(self.prompt, self.mode.removesuffix(GROWN))
        raise UsageError(
            f"{self.name} has no recordings of {self.mode} with prompt {self.prompt}; it has "
            f"{', '.join(prompts)}. Name a model with -m"
        )


def check_plan(plan: "Plan") -> None:
    """Refuse more samples than there are recorded answers. Raises UsageError."""
    if isinstance(plan.model, ReplayModel):
        plan.model.check([each.id for each in plan.problems], plan.spec.samples_per_problem)


def _holds_transcripts(folder: Path) -> bool:
    return (folder / FOLDER).is_dir()


def read_turns(run: Path) -> dict[tuple[str, int], list[ModelTurn | ModelError]]:
    """Return the result of each request by sample (problem id and index).

    Raises:
        UsageError: there are no transcripts.
    """
    turns: dict[tuple[str, int], list[ModelTurn | ModelError]] = {}
    transcripts = Transcripts(run)
    names = transcripts.names()
    if not names:
        raise UsageError(f"{REPLAY_PREFIX}{run}: no transcripts there; give the directory of a run")
    for name in names:
        events = standing(transcripts.events(name))
        start = next((event for event in events if isinstance(event, SampleStart)), None)
        sample = sample_in(name) if start is None else (start.problem_id, start.index)
        if sample is not None and events:
            turns[sample] = list(_played(events, "" if start is None else start.mode))
    return turns


def _played(events: Iterable[Event], mode: str) -> Iterator[ModelTurn | ModelError]:
    """Yield the recorded result of each request.

    Older versions ended the agent loop when a model called no tool; such recordings still end
    there.
    """
    asked = damaged = False
    ends = {*LIMITS, StopReason.MODEL_STOPPED} if mode == LOOP.name else LIMITS
    for event in events:
        match event:
            case Request() if asked and damaged:
                yield ModelError("the recorded answer cannot be read: its line is damaged")
                return
            case Damaged():
                damaged = True
            case Request():
                asked, damaged = True, False
            case Response():
                asked = False
                yield plain_turn(event.response)
            case Refused():
                asked = False
                yield refusal_of(event)
            case AgentLeft():  # its next steps are unknown
                message = "the recorded agent left here"
                yield RecordingEndedError(message, StopReason.MODEL_STOPPED, asked=False)
                return
            case SampleEnd(stop_reason=StopReason.CONTEXT_LIMIT):
                yield ContextOverflowError(event.error)
            case SampleEnd(stop_reason=reason) if reason in ends:
                message = f"the recorded sample ended here: {reason.replace('_', ' ')}"
                yield RecordingEndedError(message, reason, asked=asked)
            case _:
                pass
