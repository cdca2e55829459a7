"""Grades of the revisions of an imported run, judged here, and published verdicts beside them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.agent.events import Graded
from harness.features.grade.solutions import Published
from harness.features.import_.imported_sample import ImportedSample, result_from
from harness.figures import count
from harness.grading.verdict import Grade, TestResult
from harness.models.prices.price import Price
from harness.run.store.directory import RunDirectory
from harness.run.store.results import SampleResult
from harness.text import printable_line

MOST_SHOWN = 20


class Compared(NamedTuple):
    """A solution with both a published verdict and one made here.

    Attributes:
        what: name of the sample, with the number of the revision if one is meant.
        solved: whether it passed here.
        grade: its grade; None for a revision judged by an earlier call, unless it is the final one.
    """

    what: str
    published: Published
    solved: bool
    grade: Grade | None

    @property
    def agrees(self) -> bool:
        """Whether both verdicts say passed, or both say failed."""
        return self.published.passed == self.solved


def compared(
    sample: ImportedSample, result: SampleResult, grades: Mapping[str, Grade]
) -> Iterator[Compared]:
    """Yield a sample's solutions with both verdicts: revisions, then the final one.

    Args:
        sample: a sample that was judged.
        result: its result.
        grades: grades by code, if this call judged it.
    """
    final = grades.get(sample.final) or _grade_of(result)
    for number, (each, step) in enumerate(zip(sample.revisions, result.steps, strict=False), 1):
        grade = final if each.code == sample.final else grades.get(each.code)
        if each.published is not None and step.solved is not None:
            what = f"{sample.name} revision {number}"
            yield Compared(what, each.published, step.solved, grade)
    if sample.published is not None and result.graded:
        yield Compared(sample.name, sample.published, result.solved, final)


def _grade_of(result: SampleResult) -> Grade:
    """Return the grade of a result, as far as it is stored."""
    return Grade(
        verdict=result.verdict,
        tests=tuple(
            TestResult(
                index=index,
                public=each.public,
                verdict=each.verdict,
                cpu_s=each.cpu_s,
                wall_s=each.wall_s,
            )
            for index, each in enumerate(result.tests)
        ),
        public_total=result.public_total,
        hidden_total=result.hidden_total,
    )


def agreement_lines(compared: Iterable[Compared]) -> list[str]:
    """Return a line on how many published verdicts agree, then each that does not."""
    all_ = list(compared)
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
    published = each.published.verdict or each.published.note
    line = f"{each.what}: published {theirs}{f' ({published})' if published else ''}, here "
    grade = each.grade
    if grade is None:
        return line + ("passed" if each.solved else "failed")
    failed = next((test for test in grade.tests if not test.passed), None)
    at = ""
    if failed is not None:
        at = f" at {'public' if failed.public else 'hidden'} test {failed.index + 1}"
    total = grade.public_total + grade.hidden_total
    passed = grade.public_passed + grade.hidden_passed
    return f"{line}{grade.verdict}{at}, {passed} of {count(total, 'test')} passed"


@dataclass(slots=True)
class ImportedGrades:
    """Writes samples that were judged, and compares their grades with published verdicts.

    Args:
        directory: directory of the run.
        price: the model's price, if known.
    """

    directory: RunDirectory
    price: Price | None = None
    _grades: dict[str, Mapping[str, Grade]] = field(default_factory=dict[str, Mapping[str, Grade]])

    def commit(self, sample: ImportedSample, grades: Mapping[str, Grade]) -> None:
        """Write the result of a sample. Raises StorageError."""
        with self.directory.transcript(sample.problem.id, sample.index) as write:
            write(Graded(grade=grades[sample.final]))
        self.directory.results.append(result_from(sample, grades, self.price))
        self._grades[sample.name] = grades

    def compared(
        self, samples: Iterable[ImportedSample], results: Iterable[SampleResult]
    ) -> Iterator[Compared]:
        """Yield the solutions of all judged samples that have a published verdict too.

        Args:
            samples: all samples of the file.
            results: results of the run, also those of earlier calls.
        """
        by_name = {result.sample: result for result in results}
        for sample in samples:
            if sample.name in by_name:
                grades = self._grades.get(sample.name, {})
                yield from compared(sample, by_name[sample.name], grades)
