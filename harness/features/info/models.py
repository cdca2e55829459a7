"""`harness models`: show the providers, or the request that would be sent."""

import json
import os
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli import completion
from harness.cli.settings_flags import REQUESTS, with_settings
from harness.errors import UsageError
from harness.frozen import Frozen
from harness.models.environment import MODEL_ID, OPENAI_BASE_URL, Environment
from harness.models.providers import PROVIDERS, PYTHON_PREFIX, REFERENCES, REPLAY_PREFIX, Provider
from harness.models.route import at_home, shown_url
from harness.models.servers import Routed, missing
from harness.run.plan.target import Target, check_references, refuse_unsent, resolve_target
from harness.run.settings.given import Given
from harness.run.settings.spec import RunSpec, given_as, read_spec
from harness.terminal.consoles import console, write_json
from harness.terminal.summary_table import facts
from harness.text import printable_line

NOT_SENT = {
    PYTHON_PREFIX: "your own code, in this process; it is sent nowhere",
    REPLAY_PREFIX: "recorded answers, played again; nothing is sent",
    REFERENCES: "the problems' own solutions; nothing is sent",
}
SCHEMA = 1


class Found(Frozen):
    """A key, a header or another setting: its name, where it was found, and what it says."""

    variable: str | None = None
    header: str | None = None
    value: str | None = None
    where: str


class ShownProvider(Frozen):
    """A provider; `ready` means that its key is there, or that it needs none."""

    provider: str
    prefix: str
    names: tuple[str, ...]
    endpoint: str
    protocol: str
    ready: bool
    key: Found | None
    keys: tuple[str, ...]
    fault: str | None = None


class Providers(Frozen):
    """What `harness models --json` prints."""

    schema_version: int = SCHEMA
    providers: tuple[ShownProvider, ...]
    MODEL_ID: Found | None
    OPENAI_BASE_URL: Found | None


class ShownModel(Frozen):
    """What `harness models NAME --json` prints; without a request it is the name and a note."""

    schema_version: int = SCHEMA
    provider: str | None = None
    endpoint: str | None = None
    protocol: str | None = None
    model: str
    ready: bool | None = None
    key: Found | None = None
    keys: tuple[str, ...] = ()
    headers: tuple[Found, ...] = ()
    batch: bool | None = None
    note: str | None = None
    body: dict[str, Any] | None = None


def _write(out: Console, kind: type[Frozen], shown: dict[str, Any]) -> None:
    """Print an object as JSON, without the fields that are not known."""
    whole = kind.model_validate({"schema_version": SCHEMA, **shown})
    write_json(out, [whole.model_dump_json(exclude_unset=True)])


def show_providers(*, as_json: bool) -> None:
    """Print each provider's key variable and whether it is set, endpoint and names."""
    environment = Environment.read(os.environ)
    rows = [_described(each, environment) for each in PROVIDERS]
    settings = {name: _setting(environment, name) for name in (MODEL_ID, OPENAI_BASE_URL)}
    out = console()
    if as_json:
        _write(out, Providers, {"providers": rows, **settings})
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        lines = (
            f"key: {_key_words(row, in_full=False)}",
            f"{row['endpoint']}, {row['protocol']}",
            ", ".join([f"{row['prefix']}NAME", *row["names"]]),
        )
        table.add_row(
            Text(printable_line(row["provider"]), style="bold"),
            Text("\n".join(map(printable_line, lines))),
        )
    out.print(table)
    out.print()
    notes = [
        *(
            (name, f"{setting['value']} ({setting['where']})")
            for name, setting in settings.items()
            if setting
        ),
        (f"{PYTHON_PREFIX}MODULE:NAME", NOT_SENT[PYTHON_PREFIX]),
        (f"{REPLAY_PREFIX}RUN", NOT_SENT[REPLAY_PREFIX]),
        ("any name, --base-url URL", "that endpoint, as chat completions"),
    ]
    out.print(facts(notes))


def show_model(name: str, flags: Given, *, as_json: bool) -> None:
    """Print the request to a model that `harness run` would make.

    Raises:
        UsageError: no provider serves the name, or a setting is not accepted.
    """
    spec = read_spec(None, flags.with_flags(model=name))
    target = resolve_target(spec, os.environ)
    server = target.server
    shown = _request(server) if isinstance(server, Routed) else _not_sent(target, spec)
    out = console()
    if as_json:
        _write(out, ShownModel, shown)
        return
    lines = ("provider", "endpoint", "protocol", "model", "key", "headers", "batch", "note")
    out.print(facts((line, _line(shown, line)) for line in lines if line in shown))
    if "body" in shown:
        # JSON escapes unprintable characters.
        out.print(json.dumps(shown["body"], indent=2), soft_wrap=True)


def _not_sent(target: Target, spec: RunSpec) -> dict[str, Any]:
    """Describe a model to which no request is sent, after it has been found."""
    refuse_unsent(target, spec)
    check_references(target, spec)
    target.open()
    description = f"{target.plugin}; the plug-in decides what is sent, and where"
    if target.plugin is None:
        notes = (why for prefix, why in NOT_SENT.items() if target.name.startswith(prefix))
        description = next(notes, NOT_SENT[PYTHON_PREFIX])
    return {"model": target.name, "note": description}


def _request(server: Routed) -> dict[str, Any]:
    route = server.route
    return {
        "provider": route.provider,
        "endpoint": route.endpoint,
        "protocol": route.protocol,
        "model": route.model,
        "ready": route.key is not None or not route.needs_key,
        "key": route.key and {"variable": route.key.variable, "where": route.key.where},
        "keys": route.keys,
        "headers": [
            *({"variable": each.variable, "where": each.where} for each in route.headers),
            *({"header": name, "where": "--header"} for name in route.own_headers),
        ],
        "batch": route.batches,
        **({"note": route.remark} if route.remark else {}),
        "body": server.example_request(),
    }


def _described(provider: Provider, environment: Environment) -> dict[str, Any]:
    provider = at_home(provider, environment)
    key, fault = None, None
    try:
        key = environment.key(*provider.keys)
    except UsageError as error:
        fault = str(error)
    return {
        "provider": provider.title,
        "prefix": provider.prefix,
        "names": provider.names,
        "endpoint": shown_url(provider.base_url),
        "protocol": provider.protocol,
        "ready": key is not None or not provider.keys,
        "key": key and {"variable": key.variable, "where": key.where},
        "keys": provider.keys,
        **({"fault": fault} if fault else {}),
    }


def _setting(environment: Environment, name: str) -> dict[str, str] | None:
    setting = environment.find(name)
    if setting is None:
        return None
    value = shown_url(setting.value) if name == OPENAI_BASE_URL else setting.value
    return {"value": value, "where": setting.where}


def _line(shown: dict[str, Any], name: str) -> str:
    match name:
        case "key":
            return _key_words(shown)
        case "headers":
            named = [
                f"{each.get('variable') or each['header']} ({each['where']})"
                for each in shown["headers"]
            ]
            return ", ".join(named) or "none of the environment"
        case "batch":
            return "possible, with --batch" if shown["batch"] else "not possible"
        case _:
            return str(shown[name])


def _key_words(shown: dict[str, Any], *, in_full: bool = True) -> str:
    """Say where the key is, or which is missing; with `in_full`, how to set it."""
    if shown.get("fault"):
        return shown["fault"]
    if shown["key"]:
        return f"{shown['key']['variable']} ({shown['key']['where']})"
    if shown["ready"]:
        return "none needed"
    if in_full:
        return f"missing: {missing(shown['keys'])}"
    return f"missing, set {' or '.join(shown['keys'])}"


@with_settings(*REQUESTS)
def models(
    settings: Given,
    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.models,
            metavar="NAME",
            help="A model, as for `harness run --model`.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which providers are ready, or exactly what would be sent to the model NAME.

    Nothing is sent, and no key is shown.
    """
    if name is not None and not name.strip():
        raise UsageError("NAME is empty; give a value, or leave it out")
    if name is not None:
        show_model(name, settings, as_json=as_json)
    elif settings:
        flag = given_as(next(iter(settings)), settings)
        raise UsageError(f"{flag} is about one model; name it: harness models NAME {flag} …")
    else:
        show_providers(as_json=as_json)
