"""Resolve a spec's model: its name, route and settings."""

from collections.abc import Mapping
from typing import Any

from harness.agent.strategies.external_names import EXTERNAL
from harness.errors import UsageError
from harness.models.addresses import shown_url
from harness.models.environment import MODEL_ID, Environment
from harness.models.function import FunctionModel
from harness.models.model_names import check_settings, is_sent, open_model, plugged, resolve
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import REFERENCES
from harness.models.route import Access, Route
from harness.models.scripted import ReferenceModel, UnaskedModel, check_references
from harness.models.timeouts import Timeouts
from harness.models.user_headers import variable_of
from harness.run.plan.modes import mode_of
from harness.run.plan.recordings import BUNDLED, PREFIX, open_replay
from harness.run.spec.settings import is_said
from harness.run.spec.spec import RunSpec, flag_of

ADDRESSING = ("base_url", "api", "api_key_env", "header")
"""Keys that say how to reach an endpoint."""
ASKED_FOR = tuple(ModelSettings.model_fields)
"""Keys that are part of every request."""
BUNDLED_PROBLEMS = "fixture"


def model_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    """Return a spec's model: its own, else the bundled recordings, else `MODEL_ID`.

    If the bundled problems are named explicitly, `MODEL_ID` precedes the recordings. If efficiency
    is measured without a model, the references are used.

    Raises:
        UsageError: there is no model.
    """
    if (mode := mode_of(spec)) is not None:
        return mode.model_name(spec)
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


def endpoint_of(name: str, spec: RunSpec, environ: Mapping[str, str]) -> str | None:
    """Return the address of requests, without user and password; None without one.

    Raises:
        UsageError: no provider serves the name.
    """
    route = route_of(name, spec, environ)
    return None if route is None else shown_url(route.base_url)


def route_of(name: str, spec: RunSpec, environ: Mapping[str, str]) -> Route | None:
    """Return the route of requests; None if the harness itself sends none.

    Raises:
        UsageError: no provider serves the name, or an address, key or header is invalid.
    """
    if not is_sent(name):
        return None
    environment = environment_of(spec, environ)
    if plugged(name, base_url=spec.base_url, environment=environment) is not None:
        return None
    return resolve(name, base_url=spec.base_url, environment=environment, **access_of(spec))


def access_of(spec: RunSpec) -> Access:
    """Return how to reach a spec's model."""
    return Access(api=spec.api, api_key_env=spec.api_key_env, header=spec.header)


def environment_of(spec: RunSpec, environ: Mapping[str, str]) -> Environment:
    """Return the environment and `.env`, including the variables named in a spec."""
    named = [spec.api_key_env, *map(variable_of, spec.header)]
    return Environment.read(environ, more=[name for name in named if name is not None])


def open_any_model(
    name: str, spec: RunSpec, environ: Mapping[str, str], *, dry_run: bool = False
) -> Model:
    """Open a model by name, including recordings; keys may come from `.env`.

    Args:
        name: the model's name.
        spec: the run's spec.
        environ: the environment.
        dry_run: whether no request will be sent, so that no key is needed.

    Raises:
        UsageError: no provider serves the name, a key is missing, or a setting is not supported.
    """
    if spec.mode in EXTERNAL:
        return UnaskedModel(name)
    refuse_unsent(name, spec, environ)
    if name.startswith(PREFIX):
        return open_replay(name, spec.mode)
    if name == REFERENCES:
        check_references(spec.mode)
        return ReferenceModel(())
    route = route_of(name, spec, environ) if dry_run else None
    if route is not None:
        check_settings(route, settings_of(spec))
        return UnaskedModel(name)
    return open_model(
        name,
        base_url=spec.base_url,
        environment=environment_of(spec, environ),
        settings=settings_of(spec),
        timeouts=timeouts_of(spec),
        **access_of(spec),
    )


def timeouts_of(spec: RunSpec) -> Timeouts:
    """Return the time limits of a run's requests."""
    given = {
        "idle_s": spec.idle_timeout,
        "request_s": spec.request_timeout,
        "retry_s": spec.retry_timeout,
    }
    return Timeouts(**{name: value for name, value in given.items() if value is not None})


def refuse_unsent(name: str, spec: RunSpec, environ: Mapping[str, str]) -> None:
    """Refuse settings of requests if the harness sends none. Raises UsageError."""
    if spec.mode in EXTERNAL:
        return
    if name.startswith(PREFIX) or name == REFERENCES:
        keys = (*ADDRESSING, *ASKED_FOR)
    elif route_of(name, spec, environ) is None:
        keys = ADDRESSING  # a user's own code may use the settings
    else:
        return
    for key in keys:
        if is_said(spec, key):
            raise UsageError(
                f"{flag_of(key)}: harness sends no request to model {name!r}; leave it out"
            )


def refuse_unheeded(model: Model, spec: RunSpec, *, resumed: bool) -> None:
    """Refuse settings for a function as model, which gets none. Raises UsageError.

    A resumed run may have some, since earlier versions accepted them.
    """
    if resumed or not isinstance(model, FunctionModel):
        return
    for key in ASKED_FOR:
        if is_said(spec, key):
            raise UsageError(
                f"{flag_of(key)}: model {model.name!r} is a function, which receives no settings; "
                "leave it out, or give an object with the methods of a Model"
            )


def settings_of(spec: RunSpec) -> ModelSettings:
    """Return the spec's settings of requests."""
    given: dict[str, Any] = {name: getattr(spec, name) for name in ModelSettings.model_fields}
    given["stop"] = spec.stop or None
    return ModelSettings(**given)
