"""Whose verdicts a run has: published ones, or those made here."""

from collections.abc import Mapping
from typing import Any

PUBLISHED, HERE = "published", "made here"


def verdicts_of(manifest: Mapping[str, Any]) -> str:
    """Whose verdicts a run has: `published` or `made here`."""
    match manifest:
        case {"imported": {"verdicts": str(whose)}}:
            return whose
        case _:
            return HERE


def as_judged_here(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of its import once the solutions are judged again; of others nothing."""
    imported = manifest.get("imported")
    return {"imported": {**imported, "verdicts": HERE}} if imported else {}


IMPORT_AGAIN = "; the same import judges what the log has"
"""What becomes of an imported run's pending samples, after a clause that names them."""


def is_imported(manifest: Mapping[str, Any]) -> bool:
    """Whether another program made the run, so that it cannot be resumed."""
    return isinstance(manifest.get("imported"), dict)
