"""How many samples each problem of a run has; those of an imported file may differ."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.run.settings.shard import problems_merged

BY_PROBLEM = "samples_by_problem"
"""Key of `run.json` for the number of samples of each problem that has fewer than the others."""


def samples_by_problem(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of planned samples of each problem of a run."""
    usual = dict.fromkeys(manifest["problems"], int(manifest["spec"]["samples_per_problem"]))
    return usual | manifest.get(BY_PROBLEM, {})


def planned_samples(manifest: Mapping[str, Any]) -> int:
    """Return the number of planned samples, including those of missing shards."""
    if BY_PROBLEM in manifest:
        return sum(samples_by_problem(manifest).values())
    problems = max(len(manifest["problems"]), problems_merged(manifest))
    return problems * manifest["spec"]["samples_per_problem"]


def in_rounds(numbers: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield problem and index of each sample: the first of each, then the second of each."""
    for index in range(max(numbers.values(), default=0)):
        for problem, number in numbers.items():
            if index < number:
                yield problem, index


def samples_text(manifest: Mapping[str, Any]) -> str:
    """Return the number of samples of a problem: `10`, or `5 to 10` where they differ."""
    numbers = set(samples_by_problem(manifest).values())
    least, most = min(numbers, default=1), max(numbers, default=1)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def of_file(samples: Iterable[tuple[str, int]]) -> tuple[int, dict[str, Any]]:
    """Return the most samples of a problem, and what `run.json` has beside it.

    Args:
        samples: problem id and index of each sample in a file.
    """
    numbers: dict[str, int] = {}
    for problem, index in samples:
        numbers[problem] = max(numbers.get(problem, 0), index + 1)
    most = max(numbers.values())
    fewer = {problem: number for problem, number in numbers.items() if number < most}
    return most, ({BY_PROBLEM: fewer} if fewer else {})


def fault_of(manifest: Mapping[str, Any]) -> str:
    """Return what is wrong with the numbers of samples; empty if nothing is."""
    samples = manifest["spec"]["samples_per_problem"]
    if not isinstance(samples, int) or samples < 1:
        return f"samples_per_problem is not a positive integer: {str(samples)[:50]}"
    fewer = manifest.get(BY_PROBLEM, {})
    if not isinstance(fewer, dict) or not all(
        problem in manifest["problems"] and isinstance(number, int) and 1 <= number <= samples
        for problem, number in fewer.items()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    ):
        return f"{BY_PROBLEM} is not a number from 1 to {samples} for some of the problems"
    return ""
