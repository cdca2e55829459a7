"""Differences between two runs: settings, versions, problems, and how they were judged."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from harness.features.compare.efficiency import timed_unlike
from harness.figures import count
from harness.run.settings.spec import COMPARED, SETTINGS, default_of, uses
from harness.run.store.origin import PUBLISHED, verdicts_of
from harness.run.store.versions import versions_of
from harness.run.summary.loaded_run import Run

Labels = tuple[str, str]
TOLD_APART = frozenset({"base_url", "rule"})
"""Settings reported elsewhere: as the endpoint, and as a difference in judging."""
NAMED = 3


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
        ("compiler", "compiler"),
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
    words = (str(each) for each in values if each)
    return ", ".join(dict.fromkeys(each if " " in each else each[:12] for each in words))


def _plugins(run: Run) -> str:
    found = run.manifest.get("plugins")
    if not isinstance(found, list):
        return ""
    rows = [cast("dict[str, Any]", e) for e in cast("list[Any]", found) if isinstance(e, dict)]
    return ", ".join(sorted(f"{each.get('name')} {each.get('version')}" for each in rows))


def changed_problems(a: Run, b: Run) -> set[str]:
    """Return the problems of both runs whose content differs."""
    hashes = {result.problem_id: result.problem_hash for result in a.results}
    return {
        result.problem_id
        for result in b.results
        if hashes.get(result.problem_id, result.problem_hash) != result.problem_hash
    }


def unlike(a: Run, b: Run, labels: tuple[str, str], changed: Collection[str]) -> Iterator[str]:
    """Yield, in words, differences in judging that may affect the rates.

    Args:
        a: the first run.
        b: the second run.
        labels: labels of the runs.
        changed: ids of problems in both runs whose content differs.
    """
    if changed:
        yield (
            f"{count(len(changed), 'problem')} left out: the content differs between the runs "
            f"({_some(changed)})"
        )
    yield from _data(a, b)
    one, other = (verdicts_of(run.manifest) for run in (a, b))
    if one != other:
        yield f"the origin of verdicts differs: {labels[0]} {one}, {labels[1]} {other}"
    one, other = (run.spec.get("rule") or "each problem's own" for run in (a, b))
    if one != other:
        yield f"the rule that compares outputs differs: {one} and {other}"
    if _limits(a, b) != _limits(b, a):
        yield f"the limits of a test differ between the runs: {_limits_in_words(a, b)}"
    one, other = (run.manifest.get("sandbox", {}).get("level") for run in (a, b))
    if one != other and None not in {one, other}:
        yield f"the sandbox's level differs between the runs: {one} and {other}"
    yield from _loose(a, b, labels)
    yield from timed_unlike(a, b, labels)
    issues_a, issues_b = _issues(a), _issues(b)
    differ = [p for p in issues_a.keys() & issues_b.keys() if issues_a[p] != issues_b[p]]
    if differ:
        yield (
            f"what is known to be wrong with problems differs for {count(len(differ), 'problem')} "
            f"({_some(differ)})"
        )


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


def _loose(a: Run, b: Run, labels: tuple[str, str]) -> Iterator[str]:
    """Yield a warning if only one agent was isolated from the hidden tests."""
    agents = [run.manifest.get("agent") or {"confined": True} for run in (a, b)]
    loose = [label for label, agent in zip(labels, agents, strict=True) if not agent["confined"]]
    if len(loose) == 1:
        yield f"the agent of {loose[0]} was not kept from the hidden tests"


def _data(a: Run, b: Run) -> Iterator[str]:
    """Yield a warning if the data files differ by content, regardless of their names."""
    one, other = (
        {file["sha256"] for file in run.manifest.get("data", []) if "sha256" in file}
        for run in (a, b)
    )
    if one and other and one != other:
        same = "; the problems that are compared have the same content"
        yield f"the data files differ by their hashes{same}"


def _limits(run: Run, other: Run) -> dict[str, Any]:
    """Return a run's test limits for the sources that both runs have."""
    limits, theirs = (run.manifest.get("test_limits", {}) for run in (run, other))
    return {source: limits[source] for source in sorted(limits) if source in theirs}


def _limits_in_words(a: Run, b: Run) -> str:
    one, other = _limits(a, b), _limits(b, a)
    parts = (
        f"{source}: {key} {one[source].get(key)} and {other[source].get(key)}"
        for source in one
        for key in sorted({*one[source], *other[source]})
        if one[source].get(key) != other[source].get(key)
        and not isinstance(one[source].get(key, other[source].get(key)), dict)
    )
    return "; ".join(parts) or "problems have limits of their own"


def _issues(run: Run) -> Mapping[str, frozenset[str]]:
    return {result.problem_id: frozenset(result.known_issues) for result in run.results}


def _some(problems: Collection[str]) -> str:
    first = sorted(problems)[:NAMED]
    more = len(problems) - len(first)
    return ", ".join(first) + (f", and {more:,} more" if more else "")
