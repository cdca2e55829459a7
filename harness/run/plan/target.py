"""Resolve a spec's model once: its name, what serves it, its settings; recordings as models."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

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
from harness.agent.strategies.modes import LOOP, SHOT, built_in_modes, mode_named
from harness.agent.templates.prompt_set import find_templates
from harness.errors import UsageError
from harness.models.environment import MODEL_ID, Environment, variable_of
from harness.models.function import FunctionModel
from harness.models.opening import example_request, open_model
from harness.models.protocol import (
    ContextOverflowError,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RecordingEndedError,
)
from harness.models.providers import REFERENCES, REPLAY_PREFIX, is_sent
from harness.models.references import ReferenceModel
from harness.models.replay import ReplayModel, plain_turn
from harness.models.route import Route, served_by, shown_url
from harness.models.unasked import UnaskedModel
from harness.plugins import Plugin
from harness.problem import Problem
from harness.registry import TRANSPORTS, feature
from harness.run.settings.setting import is_said
from harness.run.settings.spec import SETTINGS, RunSpec, flag_of, uses
from harness.run.store.directory import MANIFEST, RunDirectory, read_manifest
from harness.run.store.transcript import sample_in
from harness.run.store.transcripts import FOLDER, Transcripts

if TYPE_CHECKING:
    from harness.run.plan.plan import Plan, Start

P = TypeVar("P")
"""The run's plan, `harness.run.plan.plan.Plan`."""
BUNDLED = "bundled"
RECORDED_MODEL = "Qwen2.5-Coder-1.5B-Instruct"
"""Model whose answers are bundled."""
DEFAULT_PROMPT = "default"
GROWN = "_grow"
"""Ends the folder of recordings of the agent loop in one conversation that grows."""
LIMITS = frozenset(reason for reason in StopReason if reason.endswith("_limit"))
ADDRESSING = ("base_url", "api", "api_key_env", "header")
"""Keys that say how to reach an endpoint."""

BATCH = "batch"
LIMITS_OF_COST = ("max_cost", "max_cost_per_sample")
ASKED_FOR = tuple(ModelSettings.model_fields)
"""Keys that are part of every request."""

UNHEEDED = ("prompt", "request_timeout", "idle_timeout", "retry_timeout", "outage_timeout")
"""Further keys without effect on a function; a user's own mode may use them."""

BUNDLED_PROBLEMS = "fixture"


def open_replay(name: str, mode: str, prompt: str = DEFAULT_PROMPT) -> ReplayModel:
    """Open the model `replay:PLACE`: a run, a set of recordings, or `bundled` for the bundled set.

    A set of recordings is a folder with the transcripts of several runs of one model, in
    MODE/PROMPT/.

    Args:
        name: the model's name.
        mode: the mode that is to be played; decides only in a set.
        prompt: the prompt set that is to be played; decides only in a set.

    Raises:
        UsageError: there are no transcripts, the run is of another mode, or the set has none of
            that mode and prompt.
    """
    folder = recording_of(name, mode, prompt)
    if (folder / MANIFEST).is_file():
        own = read_manifest(folder)["spec"].get("mode", mode)
        own = own if mode_named(own).asks else LOOP.name  # a user's own agent called tools, too
        if own != mode.removesuffix(GROWN):
            raise UsageError(f"{name} is a run of {own}: give --mode {own}, or another model")
    return ReplayModel(name, read_turns(folder))


def recorded_mode(spec: RunSpec) -> str:
    """Return the folder of a spec's mode in a set of recordings; a context has one of its own."""
    has_contexts = "context" in spec.known_mode.options
    return f"{spec.mode}{GROWN}" if has_contexts and spec.context == "grow" else spec.mode


def recording_of(name: str, mode: str, prompt: str = DEFAULT_PROMPT) -> Path:
    """Return the folder of a recording; arguments and errors as in `open_replay`."""
    where = name.removeprefix(REPLAY_PREFIX)
    if where == BUNDLED:
        with as_file(files("harness") / "fixtures" / "recordings") as folder:
            return _recording(name, folder, mode, prompt)
    folder = Path(where)
    return folder if _holds_transcripts(folder) else _recording(name, folder, mode, prompt)


def _recording(name: str, recordings: Path, mode: str, prompt: str) -> Path:
    """Return the folder of a set's recording of a mode and prompt.

    Raises:
        UsageError: there is none, or no such prompt set.
    """
    there = sorted(
        (each.parent.name, each.name) for each in recordings.glob("*/*") if _holds_transcripts(each)
    )
    if not there:
        raise UsageError(f"{name}: no transcripts there; give the directory of a run")
    if (mode, prompt) in there:
        return recordings / mode / prompt
    modes = sorted({each for each, _ in there})
    if mode not in modes:
        known = ", ".join(each for each in modes if not each.endswith(GROWN))
        raise UsageError(
            f"{name} has no recordings of {mode}; it has {known}. Name a model with -m"
        )
    prompts = [each for of, each in there if of == mode]
    find_templates(prompt, mode.removesuffix(GROWN))
    raise UsageError(
        f"{name} has no recordings of {mode} with prompt {prompt}; it has {', '.join(prompts)}. "
        "Name a model with -m"
    )


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


class OwnAgent(Protocol):
    """Starts a user's own agent for each sample; the harness sends no requests."""

    def check(self, spec: RunSpec) -> None:
        """Refuse incompatible settings. Raises UsageError."""
        ...

    def model_name(self, spec: RunSpec) -> str:
        """Return the model name for the results. Raises UsageError."""
        ...

    def facts(self, spec: RunSpec) -> Mapping[str, Any]:
        """Return the agent's entries in `run.json`."""
        ...

    def notice(self, spec: RunSpec) -> str:
        """Return the line shown before the run starts."""
        ...

    def limits(self, spec: RunSpec) -> tuple[int | None, float | None]:
        """Return the most tool calls and working seconds of a sample; None is no limit."""
        ...

    def with_agents(self, plan: P, path: Path) -> P:
        """Return the plan with a strategy that can start agents.

        Args:
            plan: the run's plan.
            path: the run directory, which need not exist yet.

        Raises:
            HarnessError: the agent cannot be started here.
        """
        ...


class Transport(Protocol):
    """A way of sending a run's requests other than one by one."""

    async def with_answers(  # noqa: PLR0917 - the parts of a run
        self,
        plan: P,
        directory: RunDirectory,
        samples: Sequence[tuple[Problem, int]],
        tell: Callable[[str], None],
        stopping: Sequence[Signals],
        interrupted: Callable[[], None],
    ) -> P | None:
        """Return the plan with a model that knows all answers; None after an interrupt.

        Args:
            plan: the run's plan.
            directory: the run directory.
            samples: samples without a result.
            tell: called with a line for the user.
            stopping: signals that count as interrupts.
            interrupted: called at each interrupt.
        """
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """The model of a run, resolved once.

    Attributes:
        name: name of the model in the results; `spec.model` may be None.
        server: plug-in or route that serves the name; None if the harness sends no requests.
        agent: what starts the user's own agent; None if a model is used.
        transport: the transport of the requests; None if they are sent one by one.
    """

    name: str
    server: Plugin | Route | None = None
    agent: OwnAgent | None = None
    transport: Transport | None = None

    @property
    def route(self) -> Route | None:
        """Route of the requests; None if the harness itself sends none."""
        return self.server if isinstance(self.server, Route) else None

    @property
    def plugin(self) -> Plugin | None:
        """The plug-in that serves the name, if one does."""
        return self.server if isinstance(self.server, Plugin) else None

    @property
    def endpoint(self) -> str | None:
        """Address of the requests, without user and password; None without one."""
        return None if self.route is None else shown_url(self.route.base_url)

    @property
    def is_recorded(self) -> bool:
        """Whether the model replays recordings."""
        return self.name.startswith(REPLAY_PREFIX)


def as_recorded(spec: RunSpec, target: Target) -> tuple[RunSpec, Mapping[str, Any] | None]:
    """Return a spec with the limits of the recording that it plays, and the recording's manifest.

    What the spec says itself stays. A recording without a manifest says nothing.

    Raises:
        UsageError: as in `open_replay`.
    """
    if not target.is_recorded or not spec.known_mode.asks:
        return spec, None
    folder = recording_of(target.name, recorded_mode(spec), spec.prompt)
    if not (folder / MANIFEST).is_file():
        return spec, None
    manifest = read_manifest(folder)
    kept = {
        key: manifest["spec"][key]
        for key, setting in SETTINGS.items()
        if setting.recorded and key in manifest["spec"] and uses(spec.mode, key)
        if not is_said(spec, key)
    }
    said = {**spec.model_dump(exclude_unset=True), **kept}
    return RunSpec.model_validate(said, context={"found": spec.found}), manifest


def resolve_target(spec: RunSpec, environ: Mapping[str, str]) -> Target:
    """Resolve a spec's model.

    The name is the spec's own, else the bundled recordings, else `MODEL_ID`. If the bundled
    problems are named explicitly, `MODEL_ID` precedes the recordings. If efficiency is measured
    without a model, the references are used. Keys and addresses may come from `.env`.

    Raises:
        UsageError: there is no model, no provider serves the name, an address, key or header is
            invalid, or the feature of a setting is not installed.
    """
    transport = feature(TRANSPORTS[BATCH], "--batch") if spec.batch else None
    if not spec.known_mode.asks:
        agent: OwnAgent = feature(spec.known_mode.agent, f"--mode {spec.mode}")
        return Target(agent.model_name(spec), None, agent, transport)
    name = _model_name(spec, environ)
    if not is_sent(name):
        return Target(name, transport=None if BATCH in spec.found else transport)
    named = [spec.api_key_env, *map(variable_of, spec.header)]
    environment = Environment.read(environ, more=[name for name in named if name is not None])
    server = served_by(
        name,
        base_url=spec.base_url,
        environment=environment,
        api=spec.api,
        api_key_env=spec.api_key_env,
        header=spec.header,
    )
    return Target(name, server, transport=transport)


def _model_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    if spec.model is not None:
        return spec.model
    if spec.benchmark is None and spec.base_url is None:
        return REFERENCES if spec.efficiency else REPLAY_PREFIX + BUNDLED
    named = Environment.read(environ).text(MODEL_ID)
    if named:
        return named
    if spec.efficiency and spec.base_url is None:
        return REFERENCES
    if spec.benchmark == BUNDLED_PROBLEMS and spec.base_url is None:
        return REPLAY_PREFIX + BUNDLED
    raise UsageError("no model is named; give -m MODEL, or set MODEL_ID")


def open_target(target: Target, spec: RunSpec, *, dry_run: bool = False) -> Model:
    """Open a run's model.

    Args:
        target: the spec's target.
        spec: the run's spec.
        dry_run: whether no request will be sent, so that no key is needed.

    Raises:
        UsageError: a key is missing, a setting is not supported, or there are no recordings.
    """
    if not spec.known_mode.asks:
        return UnaskedModel(target.name)
    if target.is_recorded:
        return open_replay(target.name, recorded_mode(spec), spec.prompt)
    if target.name == REFERENCES:
        _check_references(spec)
        return ReferenceModel(())
    settings = spec.request_settings
    if dry_run and target.route is not None:
        example_request(target.route, settings)
        return UnaskedModel(target.name)
    return open_model(target.name, target.server, settings=settings, timeouts=spec.timeouts)


def _check_references(spec: RunSpec) -> None:
    """Refuse a mode of several requests for references. Raises UsageError."""
    if not spec.known_mode.single:
        raise UsageError(
            f"-m {REFERENCES}, the default with --efficiency, is for mode {SHOT.name}, not "
            f"{spec.mode}: name a model with -m"
        )


def check_start(start: "Start") -> None:
    """Refuse settings that do not go with the model, or the user's own agent.

    Raises:
        UsageError: such a setting was given.
    """
    if start.target.agent is not None:
        start.target.agent.check(start.spec)
    refuse_unsent(start.target, start.spec)


def check_plan(plan: "Plan") -> None:
    """Refuse more samples than there are recorded answers. Raises UsageError."""
    if isinstance(plan.model, ReplayModel):
        plan.model.check([each.id for each in plan.problems], plan.spec.samples_per_problem)


def passed_over(target: Target, spec: RunSpec) -> tuple[str, ...]:
    """Return the settings that do not count for the model where they were found."""
    if not spec.known_mode.asks or target.route is not None:
        return ()
    keys = unsent(target, spec)
    if target.is_recorded or target.name == REFERENCES:  # nothing is spent
        keys += LIMITS_OF_COST
    if target.is_recorded:
        keys += tuple(key for key, setting in SETTINGS.items() if setting.recorded)
    return keys


def unsent(target: Target, spec: RunSpec) -> tuple[str, ...]:
    """Return the settings of requests that have no effect on the model."""
    if not spec.known_mode.asks:
        return ()
    if target.is_recorded or target.name == REFERENCES:
        return (*ADDRESSING, BATCH, *ASKED_FOR)
    if target.route is None:
        return (*ADDRESSING, BATCH)  # a user's own code may use the others
    return ()


def refuse_unsent(target: Target, spec: RunSpec) -> None:
    """Refuse settings of requests if the harness sends none. Raises UsageError."""
    for key in unsent(target, spec):
        if is_said(spec, key):
            raise UsageError(
                f"{flag_of(key)}: harness sends no request to model {target.name!r}; leave it out"
            )


def heeded(model: Model, spec: RunSpec, *, new: bool) -> RunSpec:
    """Return the spec without found settings that a function as the model does not heed.

    A function gets the problem, and neither messages nor settings.

    Raises:
        UsageError: such a setting, or a mode that needs a conversation, was given for a `new` run;
            earlier versions accepted more.
    """
    if not isinstance(model, FunctionModel):
        return spec
    mode = spec.known_mode
    keys = (*ASKED_FOR, *(UNHEEDED if mode.declared and not mode.talks else ()))
    if new:
        _refuse_unheeded(model, spec, keys)
    return spec.without_found(keys)


def _refuse_unheeded(model: FunctionModel, spec: RunSpec, keys: Iterable[str]) -> None:
    if spec.known_mode.talks:
        others = [each.name for each in built_in_modes(asking=True) if not each.talks]
        raise UsageError(
            f"--mode {spec.mode}: model {model.name!r} is a function, which gets the problem and "
            f"no messages; use --mode {' or '.join(others)}, or give an object with the methods of "
            "a Model"
        )
    for key in keys:
        if is_said(spec, key):
            what = "no prompt" if key == "prompt" else "no settings"
            raise UsageError(
                f"{flag_of(key)}: model {model.name!r} is a function, which receives {what}; "
                "leave it out, or give an object with the methods of a Model"
            )
