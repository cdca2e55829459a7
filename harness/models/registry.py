"""From the name on the command line to a model."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from harness.errors import UsageError
from harness.models.protocol import Model

FUNCTION_PREFIX = "python:"
VENDOR_PREFIX = "openai/"
KEYLESS = "none"  # local servers ask for no key, and the SDK insists on one

# Names that OpenAI's own endpoint serves.
VENDOR_NAMES = re.compile(r"(gpt|o1|o3|o4|chatgpt)-.+|openai/.+|o[134]")


def open_model(
    name: str, *, base_url: str | None, api_key: str | None, environ: Mapping[str, str]
) -> Model:
    """The model that a name stands for.

    `python:module:attribute` is a function. With a base URL any other name goes to that endpoint
    as it is; without one, OpenAI's own names go to OpenAI. `replay:PATH` never comes here: reading
    recordings belongs to `harness.runs`.

    Args:
        name: as given with `--model`.
        base_url: as given with `--base-url`; None falls back on `OPENAI_BASE_URL`.
        api_key: None falls back on `OPENAI_API_KEY`.
        environ: the environment, handed in.

    Raises:
        UsageError: nothing serves this name, or what it needs is missing.
    """
    if name.startswith(FUNCTION_PREFIX):
        from harness.models.function import load_callable, model_of

        return model_of(name, load_callable(name.removeprefix(FUNCTION_PREFIX)))
    if not name.strip():
        raise UsageError("the model's name is empty")
    key = _usable_key((api_key or environ.get("OPENAI_API_KEY", "")).strip())
    url = (base_url or environ.get("OPENAI_BASE_URL", "")).strip()
    if url:
        return _open_chat(name, model=name, base_url=_usable_url(url), api_key=key or KEYLESS)
    if not VENDOR_NAMES.fullmatch(name):
        raise UsageError(
            f"model {name!r}: this provider's own client is not here yet;"
            " --base-url with any OpenAI-compatible endpoint works"
        )
    if not key:
        raise UsageError(
            f"model {name!r} needs the environment variable OPENAI_API_KEY;"
            " set it, or give --base-url for another endpoint"
        )
    from harness.models.openai_chat import VENDOR_BASE_URL

    model = name.removeprefix(VENDOR_PREFIX)
    return _open_chat(name, model=model, base_url=VENDOR_BASE_URL, api_key=key)


def _open_chat(name: str, *, model: str, base_url: str, api_key: str) -> Model:
    from harness.models.openai_chat import OpenAIChat

    return OpenAIChat(name, model=model, base_url=base_url, api_key=api_key)


def _usable_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port  # raises on one out of range
        usable = usable and not (parts.query or parts.fragment)  # paths are appended
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("the base URL is not usable; write it as https://host:port/v1")
    return url


def _usable_key(key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise UsageError("OPENAI_API_KEY holds characters that no key has; set it again")
    return key
