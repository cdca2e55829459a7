"""Versions of the harness and of Python that a run was made with."""

import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

from harness.languages import PYTHON, known
from harness.version import __version__

KEYS = ("harness", "git_revision", "python", "compiler")
LONGEST = 12  # characters of a revision


def version_now(language: str = PYTHON) -> dict[str, Any]:
    """Return the current versions in the format of `run.json`.

    Args:
        language: language of the run's solutions; its compiler is named, if it has one.
    """
    compiler = known.language(language).compiler
    return {
        "harness": __version__,
        "git_revision": git_revision(),
        "python": platform.python_version(),
        **({} if compiler is None else {"compiler": compiler().version}),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions_of(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the versions a run was made with, in order, even for older formats."""
    stored = manifest.get("versions")
    if isinstance(stored, list):
        entries = cast("list[Any]", stored)
        return [cast("dict[str, Any]", each) for each in entries if isinstance(each, dict)]
    machine = manifest.get("machine")
    python = cast("dict[str, Any]", machine).get("python") if isinstance(machine, dict) else None
    first = {key: manifest.get(key) for key in KEYS[:2]}
    return [{**first, "python": python, "since": manifest.get("created")}]


def versions_after(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the versions of a resumed run, with a new entry if they have changed."""
    before, now = versions_of(manifest), version_now(_language(manifest))
    last = before[-1] if before else {}
    same = all(last.get(key) == now.get(key) for key in KEYS)
    return before if same else [*before, now]


def versions_together(manifests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the versions of several runs, without duplicates."""
    versions = {
        tuple(str(each.get(key)) for key in KEYS): each
        for manifest in manifests
        for each in reversed(versions_of(manifest))
    }
    return [*versions.values()]


def version_change(manifest: Mapping[str, Any]) -> str:
    """Describe how the versions differ from the run's last ones; empty if equal."""
    *_, last = versions_of(manifest) or [{}]
    now = version_now(_language(manifest))
    changed = [
        f"{name} {_short(last.get(key))}, now {_short(now.get(key))}"
        for key, name in zip(KEYS, ("harness", "revision", "Python", "compiler"), strict=True)
        if last.get(key) != now.get(key)
    ]
    return f"the run was made under {'; '.join(changed)}" if changed else ""


def _language(manifest: Mapping[str, Any]) -> str:
    """Return the language of a run's solutions."""
    spec = manifest.get("spec")
    name = cast("dict[str, Any]", spec).get("language") if isinstance(spec, dict) else None
    return name if name in known.LANGUAGES else PYTHON


def _short(value: object) -> str:
    text = "unknown" if value is None else str(value)
    return text if " " in text else text[:LONGEST]  # a compiler's version has several words


@cache
def git_revision() -> str | None:
    """Return the git revision of the running checkout; None if it is not one."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 - fixed words
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
