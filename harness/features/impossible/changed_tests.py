"""Public tests that a run changed so that no right solution passes them, and their record.

`run.json` keeps each change, so that resuming, grading again and exporting need neither the seed
nor the proof.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from harness.errors import RunDirectoryError
from harness.frozen import Frozen
from harness.problem import Problem, TestCase
from harness.run.settings.impossible_settings import ImpossibleKind
from harness.sources.files.content_hash import content_hash

IMPOSSIBLE = "impossible"
"""Key of the changes in `run.json`."""


class TestChange(Frozen):
    """A change of one problem's public tests.

    Attributes:
        kind: `oneoff` changes the expected output of a test, `conflicting` adds a test.
        test: index of the impossible test among the public tests of the changed problem.
        mutation: how the expected output was changed: `number`, `order`, `letter` or `truth`.
        before, after: the expected output before and after.
    """

    __test__ = False

    kind: ImpossibleKind
    test: int
    mutation: str
    before: str
    after: str

    def of(self, tests: tuple[TestCase, ...]) -> tuple[TestCase, ...]:
        """Return public tests with this change.

        Raises:
            ValueError: they are not the tests that the change was made for.
        """
        place = self.test - (self.kind == "conflicting")
        if not 0 <= place < len(tests) or tests[place].output != self.before:
            raise ValueError("the changed test is no longer among the public tests")
        impossible = tests[place].model_copy(update={"output": self.after})
        kept = tests[: self.test]
        return (*kept, impossible, *tests[place + 1 :])

    def applied(self, problem: Problem) -> Problem:
        """Return the problem with this change, under another hash. Raises ValueError."""
        tests = replace(problem.tests, public=self.of(problem.tests.public))
        digest = content_hash(problem.content_hash, self.kind, str(self.test), self.after)
        return problem.model_copy(update={"tests": tests, "content_hash": digest})


_CHANGES = TypeAdapter(dict[str, TestChange])


def changes_of(manifest: Mapping[str, Any]) -> dict[str, TestChange]:
    """Return the changes of a run by problem id; empty if it has none.

    Raises:
        RunDirectoryError: they are not readable.
    """
    stored: object = manifest.get(IMPOSSIBLE)
    if stored is None:
        return {}
    problems = cast("dict[str, Any]", stored).get("problems") if isinstance(stored, dict) else None
    try:
        return _CHANGES.validate_python(problems)
    except ValidationError as error:
        raise RunDirectoryError("run.json: the impossible tests are not readable") from error


def with_changes(
    problems: Iterable[Problem], changes: Mapping[str, TestChange]
) -> tuple[Problem, ...]:
    """Return the problems with their changes.

    Raises:
        RunDirectoryError: a changed problem has other public tests now.
    """
    return tuple(_changed(problem, changes.get(problem.id)) for problem in problems)


def _changed(problem: Problem, change: TestChange | None) -> Problem:
    if change is None:
        return problem
    try:
        return change.applied(problem)
    except ValueError as error:
        raise RunDirectoryError(f"{problem.id}: {error}; start a new run") from error
