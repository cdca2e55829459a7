"""A spec as it is kept on disk."""

from typing import Any

from harness.errors import UsageError
from harness.run.plan.target import without_user
from harness.run.spec.spec import RunSpec


def stored(spec: RunSpec) -> dict[str, Any]:
    """All keys, as JSON has them, without what a URL may hold of secrets.

    Raises:
        UsageError: the address is none.
    """
    try:
        url = None if spec.base_url is None else without_user(spec.base_url)
    except ValueError as error:
        raise UsageError(f"--base-url: {error}") from error
    return spec.model_copy(update={"base_url": url}).model_dump(mode="json")
