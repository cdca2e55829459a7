"""The runs of a report, each with a unique label."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.features.compare.differences import changed_problems, conditions_differ, unlike
from harness.run.spec.spec import uses
from harness.run.store.origin import PUBLISHED, verdicts_of
from harness.run.store.results import SampleResult
from harness.run.store.transcript import transcript_command
from harness.run.summary.loaded_run import Run
from harness.text import count, printable_line

LONGEST_LABEL = 48
NOT_KEYS = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "valueOf"),
        *("toString", "toLocaleString", "__proto__", "__defineGetter__", "__defineSetter__"),
        *("__lookupGetter__", "__lookupSetter__"),
    }
)
"""Properties of all JavaScript objects, which Vega cannot use as names of groups."""
SINGLE_SHOT = "single_shot"
NOT_USED = "not used"


@dataclass(frozen=True)
class LabelledRun:
    """A run and its label in the report."""

    label: str
    run: Run

    @cached_property
    def graded(self) -> tuple[SampleResult, ...]:
        """The samples that count in rates."""
        return tuple(result for result in self.run.results if result.graded)

    @property
    def imported(self) -> bool:
        """Whether only solutions were imported: turns, tokens and costs are unknown."""
        found = self.run.manifest.get("imported")
        return found is not None and "format" not in found

    def said(self, key: str) -> str:
        """Return a setting as text, or why there is none.

        It is `unknown` if the run is older than the key, `not used` if the run's mode ignores it.
        """
        value = self.run.spec.get(key)
        if value is not None and not uses(self.run.spec.get("mode"), key):
            return NOT_USED
        return "unknown" if value is None else str(value)

    def transcript(self, sample: str) -> str:
        """Return the shell command for a sample's transcript; empty if there is none."""
        if self.imported:
            return ""
        return transcript_command(self.run.path, sample)


def sides_of(runs: Sequence[Run]) -> list[LabelledRun]:
    """Return the runs in the given order; equal directory names are numbered."""
    names = [_short(groupable(run.name)) or "run" for run in runs]
    often, seen, taken = Counter(names), Counter[str](), set(names)
    labels: list[str] = []
    for name in names:
        label = name
        while often[name] > 1 and label in taken:
            seen[name] += 1
            label = f"{name} ({seen[name]})"
        taken.add(label)
        labels.append(label)
    return [LabelledRun(label, run) for label, run in zip(labels, runs, strict=True)]


def groupable(name: str) -> str:
    """Return a name on one line, and changed if charts cannot use it."""
    shown = printable_line(name)
    return f"{shown} " if shown in NOT_KEYS else shown


def remarks(sides: Sequence[LabelledRun]) -> Iterator[str]:
    """Yield warnings: pending or ungraded samples, and differences between runs."""
    for side in sides:
        pending = sum(side.run.summary.pending.values())
        if pending:
            yield (
                f"{side.label}: {count(pending, 'sample')} of {side.run.planned:,} not done; "
                "the figures are of the others"
            )
        if side.imported:
            tests = "tests, " if verdicts_of(side.run.manifest) == PUBLISHED else ""
            yield (
                f"{side.label}: imported, its verdicts {verdicts_of(side.run.manifest)}; nothing "
                f"is known of {tests}turns, tokens and cost"
            )
        elif "imported" in side.run.manifest:
            yield (
                f"{side.label}: agent runs made elsewhere; turns, tokens and cost are what their "
                "file says, the verdicts were made here"
            )
        ungraded = side.run.summary.ungraded
        if ungraded:
            yield f"{side.label}: {count(ungraded, 'sample')} not graded, and in no rate"
    for side in sides[1:]:
        yield from _unlike(sides[0], side)


def _unlike(first: LabelledRun, side: LabelledRun) -> Iterator[str]:
    problems, those = (each.run.manifest["problems"].keys() for each in (first, side))
    both = f"{first.label} and {side.label}"
    if problems != those:
        yield f"{both} are not of the same problems: their rates side by side are no comparison"
    labels = first.label, side.label
    found = unlike(first.run, side.run, labels, changed_problems(first.run, side.run))
    for words in (*found, *conditions_differ(first.run, side.run)):
        yield f"{both}: {words}"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"
