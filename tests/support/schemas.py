"""JSON outputs held against the schemas that the program prints of them."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from harness.features.info.schema import schema_of


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def schema_errors(name: str, thing: Any) -> list[str]:
    """Return what a schema says against a thing."""
    return [error.message for error in _validator(name).iter_errors(thing)]


def valid(name: str, text: str) -> Any:
    """Return a JSON output, after the schema of that name and a version are found in it."""
    thing = json.loads(text)
    assert schema_errors(name, thing) == []
    assert schema_errors(name, {**thing, "schema_version": 0})
    return thing
