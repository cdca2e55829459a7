"""From a spec to its model: which it is, where it is reached, how it is asked."""

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from harness.agent.external import EXTERNAL
from harness.errors import UsageError
from harness.models.environment import MODEL_ID, Environment
from harness.models.protocol import Model, ModelSettings
from harness.models.providers import REFERENCES
from harness.models.registry import is_sent, open_model, plugged, resolve
from harness.runs.external_rules import OwnModel, agent_name
from harness.runs.recordings import BUNDLED, PREFIX, open_replay
from harness.runs.references import ReferenceModel, check_references
from harness.runs.spec import RunSpec

BUNDLED_PROBLEMS = "fixture"


def model_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    """The model a spec means: its own, else the bundled recordings, else `MODEL_ID`.

    Where the bundled problems are named, `MODEL_ID` comes before the recordings; where efficiency
    is measured and none is named, the references themselves are.

    Raises:
        UsageError: it means none.
    """
    if spec.mode in EXTERNAL:
        return agent_name(spec)
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
    """The address that requests go to, without user and password; None where there is none.

    Raises:
        UsageError: nobody serves the name.
    """
    if not is_sent(name):
        return None
    environment = Environment.read(environ)
    if plugged(name, base_url=spec.base_url, environment=environment) is not None:
        return None
    route = resolve(name, base_url=spec.base_url, environment=environment)
    return without_user(route.base_url)


def without_user(url: str) -> str:
    """A URL without what it may hold of secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def open_any_model(name: str, spec: RunSpec, environ: Mapping[str, str]) -> Model:
    """The model of a name, recordings included, keys and addresses also from `.env`.

    Raises:
        UsageError: nobody serves the name, a key is missing, or a setting is not taken.
    """
    if spec.mode in EXTERNAL:
        return OwnModel(name)
    if name.startswith(PREFIX):
        return open_replay(name, spec.mode)
    if name == REFERENCES:
        check_references(spec.mode)
        return ReferenceModel(())
    return open_model(
        name,
        base_url=spec.base_url,
        environment=Environment.read(environ),
        settings=settings_of(spec),
    )


def settings_of(spec: RunSpec) -> ModelSettings:
    """What every request of a run asks for: the keys of the spec that are settings."""
    return ModelSettings(**{name: getattr(spec, name) for name in ModelSettings.model_fields})
