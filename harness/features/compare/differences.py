"""Differences between two runs: settings, versions, problems."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from harness.run.spec.spec import COMPARED, SETTINGS, default_of, uses
from harness.run.store.published import PUBLISHED, verdicts_of
from harness.run.store.versions import versions_of
from harness.run.summary.loaded_run import Run

Labels = tuple[str, str]
TOLD_APART = frozenset({"base_url", "rule"})
"""Settings reported elsewhere: as the endpoint, and as a difference in judging."""


def settings_differ(a: Run, b: Run) -> Iterator[str]:
    """Yield, in words, differing settings that matter in both runs' modes.

    Model, mode and prompt set are left out: they are what runs are compared for. Of an imported
    run only the judging settings are known.
    """
    imported = any("imported" in run.manifest for run in (a, b))
    for key in COMPARED:
        setting = SETTINGS[key]
        if setting.factor or key in TOLD_APART or (imported and setting.needs != "tests"):
            continue
        if not all(uses(run.spec.get("mode"), key) for run in (a, b)):
            continue
        one, other = (value_of(run.spec, key) for run in (a, b))
        if one != other:
            yield f"{key} differs: {words_of(one)} and {words_of(other)}"


def conditions_differ(a: Run, b: Run) -> Iterator[str]:
    """Yield, in words, differences in prompt, tools, endpoint, versions and plug-ins."""
    if a.spec.get("mode") == b.spec.get("mode"):
        yield from _content("prompt set", a.manifest.get("prompt"), b.manifest.get("prompt"))
        yield from _content("set of tools", a.manifest.get("tools"), b.manifest.get("tools"))
    one, other = (run.manifest.get("endpoint") for run in (a, b))
    if one != other and a.spec.get("model") == b.spec.get("model"):
        yield f"the endpoint differs: {one} and {other}"
    if PUBLISHED in {verdicts_of(run.manifest) for run in (a, b)}:
        return
    ours, theirs = (versions_of(run.manifest) for run in (a, b))
    for key, name in (
        ("harness", "harness version"),
        ("git_revision", "harness revision"),
        ("python", "Python version"),
    ):
        one, other = (_listed(each.get(key) for each in versions) for versions in (ours, theirs))
        if one != other and one and other:
            yield f"the {name} differs: {one} and {other}"
    one, other = (_plugins(run) for run in (a, b))
    if one != other:
        yield f"the plug-ins differ: {one or 'none'} and {other or 'none'}"


def value_of(spec: Mapping[str, Any], key: str) -> Any:
    """Return a stored setting, or its usual value if it is None or missing."""
    value = spec.get(key, default_of(key))
    return SETTINGS[key].usual if value is None else value


def words_of(value: object) -> str:
    """Format the value of a setting for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, cast("Sequence[object]", value)))
    return str(value) if value not in (None, "") else "default"


def _content(what: str, one: Any, other: Any) -> Iterator[str]:
    """Yield a difference if two items have the same name but different hashes."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return
    first, second = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
    same_name = first.get("name") == second.get("name")
    if same_name and first.get("hash") != second.get("hash"):
        yield f"the {what} {first.get('name')} differs in content"


def _listed(values: Iterator[Any]) -> str:
    return ", ".join(dict.fromkeys(str(each)[:12] for each in values if each))


def _plugins(run: Run) -> str:
    found = run.manifest.get("plugins")
    if not isinstance(found, list):
        return ""
    rows = [cast("dict[str, Any]", e) for e in cast("list[Any]", found) if isinstance(e, dict)]
    return ", ".join(sorted(f"{each.get('name')} {each.get('version')}" for each in rows))
