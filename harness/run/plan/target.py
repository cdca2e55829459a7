"""Resolve a spec's model once: its name, what serves it, and its settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.agent.strategies.external_names import EXTERNAL
from harness.errors import UsageError
from harness.models.addresses import shown_url
from harness.models.environment import MODEL_ID, Environment
from harness.models.function import FunctionModel
from harness.models.model_names import check_settings, is_sent, open_model, served_by
from harness.models.protocol import Model, ModelSettings, UnaskedModel
from harness.models.providers import REFERENCES
from harness.models.route import Route
from harness.models.scripted import ReferenceModel, check_references
from harness.models.timeouts import Timeouts
from harness.models.user_headers import variable_of
from harness.plugins import Plugin
from harness.run.plan.modes import mode_of
from harness.run.plan.recordings import BUNDLED, PREFIX, open_replay
from harness.run.spec.settings import is_said
from harness.run.spec.spec import RunSpec, flag_of

ADDRESSING = ("base_url", "api", "api_key_env", "header")
"""Keys that say how to reach an endpoint."""
ASKED_FOR = tuple(ModelSettings.model_fields)
"""Keys that are part of every request."""
TALKING = ("agentic", "self_repair")
"""Modes in which the model is told what its last answer came to."""
SILENT = ("single_shot", "best_of_k_public")
"""Modes that a function of a problem can answer."""
UNHEEDED = ("prompt", "request_timeout", "idle_timeout", "retry_timeout", "outage_timeout")
"""Further keys without effect on a function; a user's own mode may use them."""
BUNDLED_PROBLEMS = "fixture"


@dataclass(frozen=True, slots=True)
class Target:
    """The model of a run, resolved once.

    Attributes:
        name: name of the model in the results; `spec.model` may be None.
        server: plug-in or route that serves the name; None if the harness sends no requests.
    """

    name: str
    server: Plugin | Route | None = None

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
        return self.name.startswith(PREFIX)


def resolve_target(spec: RunSpec, environ: Mapping[str, str]) -> Target:
    """Resolve a spec's model.

    The name is the spec's own, else the bundled recordings, else `MODEL_ID`. If the bundled
    problems are named explicitly, `MODEL_ID` precedes the recordings. If efficiency is measured
    without a model, the references are used. Keys and addresses may come from `.env`.

    Raises:
        UsageError: there is no model, no provider serves the name, or an address, key or header is
            invalid.
    """
    if (mode := mode_of(spec)) is not None:
        return Target(mode.model_name(spec))
    name = _model_name(spec, environ)
    if not is_sent(name):
        return Target(name)
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
    return Target(name, server)


def _model_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    if spec.model is not None:
        return spec.model
    if spec.benchmark is None and spec.base_url is None:
        return REFERENCES if spec.efficiency else PREFIX + BUNDLED
    named = Environment.read(environ).text(MODEL_ID)
    if named:
        return named
    if spec.efficiency and spec.base_url is None:
        return REFERENCES
    if spec.benchmark == BUNDLED_PROBLEMS and spec.base_url is None:
        return PREFIX + BUNDLED
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
    if spec.mode in EXTERNAL:
        return UnaskedModel(target.name)
    if target.is_recorded:
        return open_replay(target.name, spec.mode)
    if target.name == REFERENCES:
        check_references(spec.mode)
        return ReferenceModel(())
    settings = request_settings(spec)
    if dry_run and target.route is not None:
        check_settings(target.route, settings)
        return UnaskedModel(target.name)
    return open_model(target.name, target.server, settings=settings, timeouts=timeouts_of(spec))


def timeouts_of(spec: RunSpec) -> Timeouts:
    """Return the time limits of a run's requests."""
    given = {
        "idle_s": spec.idle_timeout,
        "request_s": spec.request_timeout,
        "retry_s": spec.retry_timeout,
    }
    return Timeouts(**{name: value for name, value in given.items() if value is not None})


def refuse_unsent(target: Target, spec: RunSpec) -> None:
    """Refuse settings of requests if the harness sends none. Raises UsageError."""
    if spec.mode in EXTERNAL:
        return
    if target.is_recorded or target.name == REFERENCES:
        keys = (*ADDRESSING, *ASKED_FOR)
    elif target.route is None:
        keys = ADDRESSING  # a user's own code may use the settings
    else:
        return
    for key in keys:
        if is_said(spec, key):
            raise UsageError(
                f"{flag_of(key)}: harness sends no request to model {target.name!r}; leave it out"
            )


def refuse_unheeded(model: Model, spec: RunSpec, *, resumed: bool) -> None:
    """Refuse modes and settings that need a conversation for a function. Raises UsageError.

    A function gets the problem, and neither messages nor settings. A resumed run may have some,
    since earlier versions accepted them.
    """
    if resumed or not isinstance(model, FunctionModel):
        return
    if spec.mode in TALKING:
        raise UsageError(
            f"--mode {spec.mode}: model {model.name!r} is a function, which gets the problem and "
            f"no messages; use --mode {' or '.join(SILENT)}, or give an object with the methods of "
            "a Model"
        )
    for key in (*ASKED_FOR, *(UNHEEDED if spec.mode in SILENT else ())):
        if is_said(spec, key):
            what = "no prompt" if key == "prompt" else "no settings"
            raise UsageError(
                f"{flag_of(key)}: model {model.name!r} is a function, which receives {what}; "
                "leave it out, or give an object with the methods of a Model"
            )


def request_settings(spec: RunSpec) -> ModelSettings:
    """Return the spec's settings of requests."""
    given: dict[str, Any] = {name: getattr(spec, name) for name in ModelSettings.model_fields}
    given["stop"] = spec.stop or None
    return ModelSettings(**given)
