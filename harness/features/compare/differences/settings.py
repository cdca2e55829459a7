"""Settings that differ between two runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from harness.run.settings.spec import COMPARED, SETTINGS, default_of, uses
from harness.run.summary.loaded_run import Run

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
