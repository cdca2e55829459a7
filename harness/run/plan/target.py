"""Resolve a spec's model once: its name, what serves it, its price, and settings without effect."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from harness import plugins
from harness.agent.strategies.modes import SHOT, built_in_modes
from harness.errors import RunDirectoryError, UsageError
from harness.models.environment import MODEL_ID, Environment, variable_of
from harness.models.function import FunctionModel
from harness.models.prices.price import PRICE_FACTOR
from harness.models.prices.price_lists import ListedPrice, find_price
from harness.models.protocol import Model
from harness.models.providers import (
    AGENT_PREFIX,
    REFERENCES,
    REPLAY_PREFIX,
    by_prefix,
    by_shape,
    is_sent,
)
from harness.models.route import Route, address_of, resolve, shown_url
from harness.models.servers import (
    ASKED_FOR,
    OwnCode,
    Plugged,
    References,
    Routed,
    Server,
)
from harness.models.unasked import UnaskedModel
from harness.plugins import Plugin
from harness.problem import Problem
from harness.registry import RUN_FEATURES, TRANSPORTS, feature
from harness.run.plan.recordings import BUNDLED, Recordings
from harness.run.settings.setting import is_said
from harness.run.settings.spec import RunSpec, flag_of
from harness.run.store.directory import RunDirectory

if TYPE_CHECKING:
    from harness.run.plan.plan import Start

P = TypeVar("P")
"""The run's plan, `harness.run.plan.plan.Plan`."""
BATCH = "batch"
UNHEEDED = ("prompt", "request_timeout", "idle_timeout", "retry_timeout", "outage_timeout")
"""Further keys without effect on a function; a user's own mode may use them."""

BUNDLED_PROBLEMS = "fixture"


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


class Target(NamedTuple):
    """The model of a run, resolved once.

    Attributes:
        name: name of the model in the results; `spec.model` may be None.
        server: what serves the name; None if a user's own agent asks its model.
        agent: what starts the user's own agent; None if a model is used.
        transport: the transport of the requests; None if they are sent one by one.
    """

    name: str
    server: Server | None
    agent: OwnAgent | None = None
    transport: Transport | None = None

    @property
    def route(self) -> Route | None:
        """Route of the requests; None if the harness itself sends none."""
        return self.server.route if isinstance(self.server, Routed) else None

    @property
    def plugin(self) -> Plugin | None:
        """The plug-in that serves the name, if one does."""
        return self.server.plugin if isinstance(self.server, Plugged) else None

    @property
    def endpoint(self) -> str | None:
        """Address of the requests, without user and password; None without one."""
        return None if self.route is None else shown_url(self.route.base_url)

    @property
    def recordings(self) -> Recordings | None:
        """The recordings that are played, if the model is one of them."""
        return self.server if isinstance(self.server, Recordings) else None

    @property
    def recorded(self) -> Mapping[str, Any] | None:
        """Manifest of the run whose answers are played; None without one. Raises UsageError."""
        return None if self.recordings is None else self.recordings.manifest

    def without_idle(self, spec: RunSpec) -> RunSpec:
        """Return a spec without found settings that do not count for the model."""
        if self.server is None:
            return spec
        return spec.without_found((*self.server.unsent, *self.server.idle))

    def adapted(self, spec: RunSpec) -> RunSpec:
        """Return a spec as the model takes it; recordings bring some settings along.

        Raises:
            UsageError: there are no recordings.
        """
        spec = self.without_idle(spec)
        return spec if self.recordings is None else self.recordings.with_recorded(spec)

    def open(self, *, dry_run: bool = False) -> Model:
        """Open the model.

        Args:
            dry_run: whether no request will be sent, so that no key is needed.

        Raises:
            UsageError: as in `Server.open`.
        """
        if dry_run and isinstance(self.server, Routed):
            self.server.example_request()
            return UnaskedModel(self.name)
        return UnaskedModel(self.name) if self.server is None else self.server.open()


def resolve_target(spec: RunSpec, environ: Mapping[str, str]) -> Target:
    """Resolve a spec's model.

    The name is the spec's own, else the bundled recordings, else `MODEL_ID`. If the bundled
    problems are named explicitly, `MODEL_ID` precedes the recordings. A feature that the run asks
    for may name another model. Keys and addresses may come from `.env`.

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
        transport = None if BATCH in spec.found else transport
        return Target(name, _unsent(name, spec), transport=transport)
    named = [spec.api_key_env, *map(variable_of, spec.header)]
    environment = Environment.read(environ, more=[*filter(None, named)])
    server = server_of(name, spec, environment)
    return Target(name, server, transport=transport)


def server_of(name: str, spec: RunSpec, environment: Environment) -> Routed | Plugged:
    """Return what serves a name for which requests are sent: a route, or a plug-in.

    A plug-in, named `NAME` or `NAME:REST`, serves names that no provider and no base URL does.

    Raises:
        UsageError: as in `harness.models.route.resolve`; or two packages offer a plug-in of the
            name.
    """
    named = by_prefix(name)
    if not (named or by_shape(name) or address_of(named, spec.base_url, environment)):
        plugin = plugins.find(plugins.MODELS, name.partition(":")[0])
        if plugin is not None:
            return Plugged(name, plugin)
    route = resolve(
        name,
        base_url=spec.base_url,
        environment=environment,
        api=spec.api,
        api_key_env=spec.api_key_env,
        header=spec.header,
    )
    return Routed(route, spec.request_settings, spec.timeouts)


def _unsent(name: str, spec: RunSpec) -> Server:
    """Return what serves a name for which no request is sent. Raises UsageError."""
    if name.startswith(REPLAY_PREFIX):
        return Recordings.of(name, spec)
    if name.startswith(AGENT_PREFIX):
        raise UsageError(f"{name} is an agent of your own: give --agent-command 'PROGRAM …'")
    return References() if name == REFERENCES else OwnCode(name)


def _model_name(spec: RunSpec, environ: Mapping[str, str]) -> str:
    if spec.model is not None:
        return spec.model
    usual = next(filter(None, (RUN_FEATURES[name].model for name in spec.features)), "")
    if spec.benchmark is None and spec.base_url is None:
        return usual or REPLAY_PREFIX + BUNDLED
    named = Environment.read(environ).text(MODEL_ID)
    if named:
        return named
    if usual and spec.base_url is None:
        return usual
    if spec.benchmark == BUNDLED_PROBLEMS and spec.base_url is None:
        return REPLAY_PREFIX + BUNDLED
    raise UsageError("no model is named; give -m MODEL, or set MODEL_ID")


def price_of(
    target: Target, spec: RunSpec, before: Mapping[str, Any] | None = None
) -> ListedPrice | None:
    """Return the price of a run's model, half of it in batch mode; None if unknown.

    Args:
        target: the run's model.
        spec: the run's spec, whose price wins, then its list, then the bundled list.
        before: the manifest of a run to resume, which keeps its price; None for a new run.

    Raises:
        UsageError: the list cannot be read.
        RunDirectoryError: the manifest's price is invalid, or another one is given now.
    """
    if before is not None and before.get("price") is not None:
        return _kept_price(before, spec)
    if spec.price is not None:
        price = ListedPrice(**spec.price.model_dump())
    else:
        asked = {"prices": spec.prices, "service_tier": spec.service_tier}
        price = find_price(target.name, target.route, **asked)
    return price.times(PRICE_FACTOR) if price is not None and spec.batch else price


def _kept_price(before: Mapping[str, Any], spec: RunSpec) -> ListedPrice:
    now = spec.model_dump(mode="json", include={"price", "prices"})
    if any(before["spec"].get(key) != value for key, value in now.items()):
        raise RunDirectoryError("a run keeps the price it began with; leave --price[s] out")
    try:
        return ListedPrice.model_validate(before["price"])
    except ValueError as error:
        raise RunDirectoryError("run.json: the price is invalid; start a new run") from error


def check_start(start: "Start") -> None:
    """Refuse settings that do not go with the model, its price, or the user's own agent.

    Raises:
        UsageError: such a setting was given.
    """
    if start.target.agent is not None:
        start.target.agent.check(start.spec)
    refuse_unsent(start.target, start.spec)
    check_references(start.target, start.spec)
    _check_price(start)


def check_references(target: Target, spec: RunSpec) -> None:
    """Refuse a mode of several requests for references. Raises UsageError."""
    if isinstance(target.server, References) and not spec.known_mode.single:
        usual = next(name for name, each in RUN_FEATURES.items() if each.model == REFERENCES)
        raise UsageError(
            f"-m {REFERENCES}, the default with {flag_of(usual)}, is for mode {SHOT.name}, not "
            f"{spec.mode}: name a model with -m"
        )


def _check_price(start: "Start") -> None:
    """Refuse a budget in dollars if the price is unknown. Raises UsageError."""
    spec, name = start.spec, start.target.name
    given = {"--max-cost": spec.max_cost, "--set max_cost_per_sample": spec.max_cost_per_sample}
    flag = next((flag for flag, limit in given.items() if limit is not None), None)
    if flag is not None and start.price is None:
        raise UsageError(
            f"{flag} cannot be kept: what {name[:100]} costs is unknown; give --price IN,OUT in US "
            "dollars per million tokens, a list with --set prices=FILE, or "
            "--max-tokens-total instead"
        )


def refuse_unsent(target: Target, spec: RunSpec) -> None:
    """Refuse settings of requests if the harness sends none. Raises UsageError."""
    for key in () if target.server is None else target.server.unsent:
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
