"""The settings of a run in the format of `run.json`."""

from typing import Any

from harness.errors import UsageError
from harness.models.addresses import shown_url
from harness.run.spec.spec import RunSpec


def stored(spec: RunSpec) -> dict[str, Any]:
    """Return all keys as JSON values; a password in `base_url` is left out.

    Raises:
        UsageError: `base_url` is not a URL.
    """
    url = None if spec.base_url is None else shown_url(spec.base_url)
    if url == "":
        raise UsageError("--base-url is not a URL; write it as https://host:port/v1")
    return spec.model_copy(update={"base_url": url}).model_dump(mode="json")
