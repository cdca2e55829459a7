"""Under which versions of harness and Python a run was made: one entry for each change of them."""

import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

from harness.version import __version__

KEYS = ("harness", "git_revision", "python")


def version_now() -> dict[str, Any]:
    """The versions at work now, as `run.json` has them."""
    return {
        "harness": __version__,
        "git_revision": git_revision(),
        "python": platform.python_version(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions_of(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The versions that a run was made under, the first one first; a run may be older than that."""
    stored = manifest.get("versions")
    if isinstance(stored, list):
        entries = cast("list[Any]", stored)
        return [cast("dict[str, Any]", each) for each in entries if isinstance(each, dict)]
    machine = manifest.get("machine")
    python = cast("dict[str, Any]", machine).get("python") if isinstance(machine, dict) else None
    first = {key: manifest.get(key) for key in KEYS[:2]}
    return [{**first, "python": python, "since": manifest.get("created")}]


def versions_after(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The versions of a run that goes on now: a new entry where they have changed."""
    before, now = versions_of(manifest), version_now()
    last = before[-1] if before else {}
    same = all(last.get(key) == now[key] for key in KEYS)
    return before if same else [*before, now]


def versions_together(manifests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The versions of several runs, each once."""
    found = {
        tuple(str(each.get(key)) for key in KEYS): each
        for manifest in manifests
        for each in reversed(versions_of(manifest))
    }
    return [*found.values()]


def version_change(manifest: Mapping[str, Any]) -> str:
    """In words, that a run goes on under other versions than it had last; else nothing."""
    *_, last = versions_of(manifest) or [{}]
    now = version_now()
    changed = [
        f"{name} {_short(last.get(key))}, now {_short(now[key])}"
        for key, name in zip(KEYS, ("harness", "revision", "Python"), strict=True)
        if last.get(key) != now[key]
    ]
    return f"the run was made under {'; '.join(changed)}" if changed else ""


def _short(value: object) -> str:
    return "unknown" if value is None else str(value)[:12]


@cache
def git_revision() -> str | None:
    """The revision of the checkout that is running, if it is one."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 - fixed words
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
