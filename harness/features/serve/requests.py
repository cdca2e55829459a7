"""Bodies of requests, read into models. What is wrong is said in one line."""

import json
from contextlib import suppress
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError
from pydantic_core import from_json

from harness.features.serve.refusal import Refusal

M = TypeVar("M", bound=BaseModel)
SHOWN = 3  # of what is wrong


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("give a string")  # noqa: TRY004 - pydantic reports a ValueError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""A text that may hold half a surrogate pair, as a model's words that were cut short do."""


class RequestBody(BaseModel):
    """A base for what is asked for: frozen; a key that is not known is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_json(body: bytes) -> object:
    """Return a body as data. Halves of surrogate pairs are kept.

    Raises:
        Refusal: 422: it is no JSON.
    """
    try:
        return from_json(body)
    except ValueError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(body)
        raise Refusal(422, f"the body is not JSON: {error}") from None


def read_model(model: type[M], data: object) -> M:
    """Return data as a model.

    Raises:
        Refusal: 422: it is not as the model has it.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Refusal(422, _said(error)) from None


def _said(error: ValidationError) -> str:
    """Return the first of what is wrong, in a line; nothing of the values, which may be secret."""
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
