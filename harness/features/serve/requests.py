"""Parsing of request bodies into models, with errors of one line."""

import json
from contextlib import suppress
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError
from pydantic_core import from_json

from harness.features.serve.refusal import Refusal

M = TypeVar("M", bound=BaseModel)
SHOWN = 3  # most errors reported


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("give a string")  # noqa: TRY004 - pydantic reports a ValueError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""A string that may hold half a surrogate pair, as truncated texts of models do."""


class RequestBody(BaseModel):
    """Base class of requests: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_json(body: bytes) -> object:
    """Parse a body. Halves of surrogate pairs are kept.

    Raises:
        Refusal: 422, the body is not JSON.
    """
    try:
        return from_json(body)
    except ValueError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(body)
        raise Refusal(422, f"the body is not JSON: {error}") from None


def read_model(model: type[M], data: object) -> M:
    """Validate data as a model.

    Raises:
        Refusal: 422, the data does not fit the model.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Refusal(422, _said(error)) from None


def _said(error: ValidationError) -> str:
    """Return the first errors in one line, without values, which may be secret."""
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
