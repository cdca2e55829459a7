"""Differences between two runs in problems and in how they were judged."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from harness.figures import count
from harness.registry import hooks
from harness.run.store.origin import verdicts_of
from harness.run.summary.loaded_run import Run

NAMED = 3


def changed_problems(a: Run, b: Run) -> set[str]:
    """Return the problems of both runs whose content differs."""
    one, other = (run.columns.rows("problem_id", "problem_hash") for run in (a, b))
    hashes: dict[str, str] = dict(one)
    return {problem for problem, found in other if hashes.get(problem, found) != found}


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
    for each in hooks("unlike").values():
        yield from each(a, b, labels)
    issues_a, issues_b = _issues(a), _issues(b)
    differ = [p for p in issues_a.keys() & issues_b.keys() if issues_a[p] != issues_b[p]]
    if differ:
        yield (
            f"what is known to be wrong with problems differs for {count(len(differ), 'problem')} "
            f"({_some(differ)})"
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
    rows = run.columns.rows("problem_id", "known_issues")
    return {problem: frozenset(issues) for problem, issues in rows}


def _some(problems: Collection[str]) -> str:
    first = sorted(problems)[:NAMED]
    more = len(problems) - len(first)
    return ", ".join(first) + (f", and {more:,} more" if more else "")
