"""`harness schema`: JSON Schemas of files and outputs, made from their models.

Within one `schema_version` keys are only added; none is removed or changes its meaning. Readers
should ignore keys that they do not know.
"""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import typer
from pydantic import TypeAdapter

from harness import registry
from harness.agent import events
from harness.cli import completion
from harness.errors import UsageError
from harness.run.plan import estimate
from harness.run.settings.spec import LISTS, RunSpec
from harness.run.store import results
from harness.run.summary import summary
from harness.terminal.consoles import console, write_json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Json = dict[str, Any]
OF_FILES = {"result", "transcript", "spec", "event"}
"""Schemas of what is no output of a command."""
SAID_ELSEWHERE = {
    "SampleStart": {"mode", "model", "settings", "limits", "problem_id", "index"},
    "SystemMessage": {"content"},
    "ToolMessage": {"role", "call_id", "name"},
    "ToolResult": {"turn"},
    "TestResult": {"index", "public", "verdict"},
}
"""Fields that the run's manifest, another line or an earlier part of the line may say."""


class Output(summary.Summary):
    """`summary.json`; `harness run --json` adds `run`, the run directory."""

    run: str = ""


def schema_of(name: str) -> Json:
    """Return the schema of that name.

    Raises:
        UsageError: there is no such schema.
    """
    if name not in registry.SCHEMA_NAMES:
        raise UsageError(
            f"there is no schema {name[:100]!r}; known are {', '.join(registry.SCHEMA_NAMES)}"
        )
    schema = SCHEMAS[name]() if name in SCHEMAS else _of_feature(name)
    return {"$schema": DIALECT, "title": f"harness {name}", **schema}


def _of_feature(name: str) -> Json:
    target, title = registry.SCHEMAS[name]
    kind = registry.resolve(target)
    version = registry.resolve(target.partition(":")[0] + ":SCHEMA")
    return (_written if isinstance(kind, type) else _lines)(kind, title, version)


def _written(kind: Any, title: str, version: int) -> Json:
    """Return the schema of an object with a `schema_version` field."""
    schema = _made(kind, "serialization")
    schema["properties"]["schema_version"] = {"const": version}
    schema["required"] = ["schema_version", *schema["required"]]
    return {**schema, "description": title}


def _lines(kind: Any, title: str, version: int) -> Json:
    """Return the schema of a union of events, with this version where they have one."""
    schema = _made(kind, "serialization")
    for each in schema["$defs"].values():
        properties: Json = each.get("properties", {})
        named = [key for key in ("event", "role") if "const" in properties.get(key, {})]
        for key in ("schema", "schema_version"):
            if key in properties:
                properties[key] = {"const": version}
                named.append(key)
        if named:
            each["required"] = [*named, *each.get("required", [])]
    return {**schema, "description": title}


def _transcript() -> Json:
    """Return the schema of a transcript's line, which leaves out null fields and defaults.

    What the run's manifest or an earlier place in the transcript says may be missing too.
    """
    title = "One line of a transcript."
    schema = _lines(events.Event, title, events.SCHEMA)
    schema["$defs"]["SampleStart"]["properties"]["as_run"] = {
        "const": True,
        "description": "The fields of `transcripts.sample` in run.json belong to this line too.",
    }
    kept = {"event", "role", "schema"}
    for name, each in [("", schema), *schema["$defs"].items()]:
        left_out = SAID_ELSEWHERE.get(name, set())
        for key, value in each.get("properties", {}).items():
            if _may_be_null(value) or (key not in kept and "default" in value):
                left_out = left_out | {key}
        if "required" in each:
            each["required"] = [key for key in each["required"] if key not in left_out]
    return schema


def _spec() -> Json:
    schema = _made(RunSpec, "validation")
    for key in LISTS:
        word = {"type": "string", "description": "One word stands for a list of one."}
        schema["properties"][key] = {"anyOf": [schema["properties"][key], word]}
    title = "A run as `harness run -c FILE.yaml` takes it; `-` may stand for `_` in a key."
    return {**schema, "description": title}


def _made(kind: Any, mode: Literal["serialization", "validation"]) -> Json:
    schema = TypeAdapter(kind).json_schema(mode=mode)
    schema.pop("title", None)
    return schema


def _may_be_null(value: Mapping[str, Any]) -> bool:
    return {"type": "null"} in value.get("anyOf", ())


SCHEMAS: Mapping[str, Callable[[], Json]] = {
    "result": lambda: _written(
        results.SampleResult, "One line of `results.jsonl`: a graded sample.", results.SCHEMA
    ),
    "transcript": _transcript,
    "spec": _spec,
    "summary": lambda: _written(Output, str(Output.__doc__), summary.SCHEMA),
    "estimate": lambda: _written(
        estimate.Foretold, "What `harness run --dry-run --json` prints.", estimate.SCHEMA
    ),
}
"""Makers of the core's schemas, by name."""


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=completion.schemas,
            help="result (a line of results.jsonl), transcript (a line of one), spec (a YAML file "
            "of -c), event (what observers are told), or the output of a command with --json: "
            f"{', '.join(name for name in registry.SCHEMA_NAMES if name not in OF_FILES)}.",
        ),
    ],
) -> None:
    """Print the JSON Schema of what other programs read, or write for `-c`.

    Within one schema_version keys are only ever added.
    """
    write_json(console(), [json.dumps(schema_of(name), indent=2)])
