"""Origin of a run and of its verdicts: made here, replayed, or imported from another program."""

from collections.abc import Mapping
from typing import Any

from harness.models.providers import REPLAY_PREFIX

PUBLISHED, HERE = "published", "made here"

IMPORT_AGAIN = "; the same import judges what the log has"
"""What becomes of an imported run's pending samples, after a clause that names them."""


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


def is_imported(manifest: Mapping[str, Any]) -> bool:
    """Whether another program made the run, so that it cannot be resumed."""
    return isinstance(manifest.get("imported"), dict)


def is_replay(manifest: Mapping[str, Any]) -> bool:
    """Whether recorded answers were played again, so that no setting changes them."""
    return str(manifest["spec"].get("model")).startswith(REPLAY_PREFIX)
