"""Bodies of requests, read into models. What is wrong is said in one line."""

import json
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.features.serve.refusal import Refusal

M = TypeVar("M", bound=BaseModel)
SHOWN = 3  # of what is wrong


class Asked(BaseModel):
    """A base for what is asked for: frozen; a key that is not known is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_model(model: type[M], body: bytes, where: str = "") -> M:
    """Return a JSON body as a model.

    Half a surrogate pair, which a model's text that was cut short may end in, is read as a
    question mark.

    Args:
        model: what is wanted.
        body: the JSON.
        where: goes before the name of what is wrong.

    Raises:
        Refusal: 422: it is no JSON, or not as the model has it.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        again = _without_halves(body) if error.errors()[0]["type"] == "json_invalid" else None
        if again is None:
            raise Refusal(422, where + _said(error)) from None
    try:
        return model.model_validate_json(again)
    except ValidationError as error:
        raise Refusal(422, where + _said(error)) from None


def _without_halves(body: bytes) -> bytes | None:
    """Return the same JSON without halves of surrogate pairs; None where there was none."""
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    clean = text.encode("utf-8", "replace")
    return None if clean == text.encode("utf-8", "surrogatepass") else clean


def _said(error: ValidationError) -> str:
    """Return the first of what is wrong, in a line; nothing of the values, which may be secret."""
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
