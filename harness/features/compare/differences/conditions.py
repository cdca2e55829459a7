"""Differences between two runs in prompt, tools, endpoint, versions and agents."""

from collections.abc import Iterator
from typing import Any, cast

from harness.run.store.origin import PUBLISHED, verdicts_of
from harness.run.store.versions import versions_of
from harness.run.summary.loaded_run import Run


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
        ("compiler", "compiler"),
    ):
        one, other = (_listed(each.get(key) for each in versions) for versions in (ours, theirs))
        if one != other and one and other:
            yield f"the {name} differs: {one} and {other}"
    one, other = (_plugins(run) for run in (a, b))
    if one != other:
        yield f"the plug-ins differ: {one or 'none'} and {other or 'none'}"


def _content(what: str, one: Any, other: Any) -> Iterator[str]:
    """Yield a difference if two items have the same name but different hashes."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return
    first, second = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
    same_name = first.get("name") == second.get("name")
    if same_name and first.get("hash") != second.get("hash"):
        yield f"the {what} {first.get('name')} differs in content"


def _listed(values: Iterator[Any]) -> str:
    texts = (str(each) for each in values if each)
    return ", ".join(dict.fromkeys(each if " " in each else each[:12] for each in texts))


def _plugins(run: Run) -> str:
    plugins = run.manifest.get("plugins")
    if not isinstance(plugins, list):
        return ""
    rows = [cast("dict[str, Any]", e) for e in cast("list[Any]", plugins) if isinstance(e, dict)]
    return ", ".join(sorted(f"{each.get('name')} {each.get('version')}" for each in rows))


def agents_told(a: Run, b: Run, labels: tuple[str, str]) -> Iterator[str]:
    """Yield a note if an external agent's turns, tokens and costs cannot be compared."""
    owned = [label for label, run in zip(labels, (a, b), strict=True) if run.manifest.get("agent")]
    if not owned:
        return
    one = len(owned) == 1
    yield (
        f"turns, tokens and costs cannot be compared: {' and '.join(owned)} "
        f"{'is' if one else 'are'} the work of {'an external agent' if one else 'external agents'}"
        "; turns are tool calls there, and tokens are unknown"
    )
