"""Origin of a run's verdicts: published, or made here."""

from collections.abc import Mapping
from typing import Any

PUBLISHED, HERE = "published", "made here"


def verdicts_of(manifest: Mapping[str, Any]) -> str:
    """Return the origin of a run's verdicts: `published` or `made here`."""
    match manifest:
        case {"imported": {"verdicts": str(whose)}}:
            return whose
        case _:
            return HERE


def as_judged_here(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the import entry of a regraded run; empty if the run is not imported."""
    imported = manifest.get("imported")
    return {"imported": {**imported, "verdicts": HERE}} if imported else {}
