"""JSON Schemas of what the harness writes and reads, from the models that it does so by.

Within one `schema_version` keys are added and none is taken away or changes its meaning: whoever
reads passes over keys that it does not know.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from pydantic import TypeAdapter

from harness.agent import events
from harness.errors import UsageError
from harness.features.compare import comparison
from harness.features.observers import observer_events as observed
from harness.run.plan import estimate
from harness.run.spec.spec import LISTS, RunSpec
from harness.run.store import results
from harness.run.summary import summary

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Json = dict[str, Any]


class Output(summary.Summary):
    """`summary.json`, and what `harness run --json` prints: that, and `run`, its directory."""

    run: str = ""


def schema(name: str) -> Json:
    """The schema of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in SCHEMAS:
        raise UsageError(f"there is no schema {name[:100]!r}; known are {', '.join(SCHEMAS)}")
    return {"$schema": DIALECT, "title": f"harness {name}", **SCHEMAS[name]()}


def _written(kind: Any, title: str, version: int) -> Json:
    """Of an object that says its `schema_version`."""
    found = _made(kind, "serialization")
    found["properties"]["schema_version"] = {"const": version}
    found["required"] = ["schema_version", *found["required"]]
    return {**found, "description": title}


def _lines(kind: Any, title: str, version: int) -> Json:
    """Of one of several events; those that say their version say this one."""
    found = _made(kind, "serialization")
    for each in found["$defs"].values():
        properties: Json = each.get("properties", {})
        named = [key for key in ("event", "role") if "const" in properties.get(key, {})]
        for key in ("schema", "schema_version"):
            if key in properties:
                properties[key] = {"const": version}
                named.append(key)
        if named:
            each["required"] = [*named, *each.get("required", [])]
    return {**found, "description": title}


def _transcript() -> Json:
    """What is null is left out of transcripts."""
    title = "One line of a transcript."
    found = _lines(events.Event, title, events.SCHEMA)
    for each in _objects(found):
        nullable = {key for key, value in each["properties"].items() if _may_be_null(value)}
        each["required"] = [key for key in each.get("required", []) if key not in nullable]
    return found


def _spec() -> Json:
    found = _made(RunSpec, "validation")
    for key in LISTS:
        word = {"type": "string", "description": "One word stands for a list of one."}
        found["properties"][key] = {"anyOf": [found["properties"][key], word]}
    title = "A run as `harness run -c FILE.yaml` takes it; `-` may stand for `_` in a key."
    return {**found, "description": title}


def _made(kind: Any, mode: Literal["serialization", "validation"]) -> Json:
    found = TypeAdapter(kind).json_schema(mode=mode)
    found.pop("title", None)
    return found


def _objects(found: Json) -> Iterator[Json]:
    for each in (found, *found.get("$defs", {}).values()):
        if "properties" in each:
            yield each


def _may_be_null(value: Mapping[str, Any]) -> bool:
    return {"type": "null"} in value.get("anyOf", ())


SCHEMAS: Mapping[str, Callable[[], Json]] = {
    "result": lambda: _written(
        results.SampleResult, "One line of `results.jsonl`: a graded sample.", results.SCHEMA
    ),
    "transcript": _transcript,
    "spec": _spec,
    "summary": lambda: _written(Output, str(Output.__doc__), summary.SCHEMA),
    "comparison": lambda: _written(
        comparison.Comparison, "What `harness compare --json` prints.", comparison.SCHEMA
    ),
    "estimate": lambda: _written(
        estimate.Foretold, "What `harness run --dry-run --json` prints.", estimate.SCHEMA
    ),
    "event": lambda: _lines(
        observed.Observed,
        "What an observer is told; `--notify` posts those of runs, with a `text` beside.",
        observed.SCHEMA,
    ),
}
