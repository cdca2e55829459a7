"""Comparison of a file's published verdicts with the verdicts made here."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.features.grade.solutions import Published
from harness.features.import_.imported_sample import ImportedSample
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.text import count, printable_line

MOST_SHOWN = 20


class Compared(NamedTuple):
    """A solution with both a published verdict and one made here.

    Attributes:
        what: name of the sample, with the number of the revision if one is meant.
    """

    what: str
    published: Published
    grade: Grade

    @property
    def agrees(self) -> bool:
        """Whether both verdicts say passed, or both say failed."""
        return self.published.passed == self.grade.solved


def compared(sample: ImportedSample, grades: Mapping[str, Grade]) -> Iterator[Compared]:
    """Yield a sample's solutions with both verdicts: revisions, then the final one."""
    for number, each in enumerate(sample.revisions, 1):
        if each.published is not None and _judged(grades[each.code]):
            yield Compared(f"{sample.name} revision {number}", each.published, grades[each.code])
    if sample.published is not None and _judged(grades[sample.final]):
        yield Compared(sample.name, sample.published, grades[sample.final])


def agreement_lines(found: Iterable[Compared]) -> list[str]:
    """Return a line on how many published verdicts agree, then each that does not."""
    all_ = list(found)
    if not all_:
        return []
    others = [each for each in all_ if not each.agrees]
    lines = [f"{len(all_) - len(others):,} of {count(len(all_), 'published verdict')} agree"]
    lines += [printable_line(f"  {_line(each)}") for each in others[:MOST_SHOWN]]
    if len(others) > MOST_SHOWN:
        lines.append(f"  and {len(others) - MOST_SHOWN:,} more")
    return lines


def _line(each: Compared) -> str:
    theirs = "passed" if each.published.passed else "failed"
    told = each.published.verdict or each.published.note
    grade = each.grade
    failed = next((test for test in grade.tests if not test.passed), None)
    at = ""
    if failed is not None:
        at = f" at {'public' if failed.public else 'hidden'} test {failed.index + 1}"
    total = grade.public_total + grade.hidden_total
    passed = grade.public_passed + grade.hidden_passed
    return (
        f"{each.what}: published {theirs}{f' ({told})' if told else ''}, "
        f"here {grade.verdict}{at}, {passed} of {count(total, 'test')} passed"
    )


def _judged(grade: Grade) -> bool:
    return grade.verdict is not Verdict.UNGRADED and grade.verdict not in INFRASTRUCTURE
