"""`harness verify --generated`: compare references on generated inputs."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UsageError
from harness.features.verify.generated import (
    MOST_INPUTS,
    CrossChecked,
    CrossChecks,
    cross_check_all,
    has_generator,
    summarize_cross_checks,
)
from harness.problem import Problem
from harness.run.reporter import JudgingProgress, Reporter
from harness.run.session.judging_session import JudgingSession, in_pool
from harness.sandbox.executor import Executor
from harness.text import count


def check_range(inputs: int | None) -> None:
    """Refuse a number of inputs outside the accepted range. Raises UsageError."""
    if inputs is not None and not 1 <= inputs <= MOST_INPUTS:
        raise UsageError(f"--generated {inputs}: give inputs per problem, from 1 to {MOST_INPUTS}")


@dataclass(slots=True)
class CrossChecking:
    """Cross-check of the selected problems.

    Attributes:
        problems: all selected problems.
        inputs: number of inputs to generate for each.
        most: most references of each, from the first; None for all.
        checked: results of the problems reached, by index.

    Raises:
        UsageError: no problem has a generator.
    """

    problems: Sequence[Problem]
    inputs: int
    most: int | None
    checked: dict[int, CrossChecked] = field(default_factory=dict[int, CrossChecked])

    def __post_init__(self) -> None:
        if not self._total:
            number = count(len(self.problems), "selected problem")
            raise UsageError(
                f"--generated {self.inputs}: of {number} none has a generator of inputs; only "
                "Mercury's rows bring one (generator_code): verify those, or leave the flag out"
            )

    @property
    def _total(self) -> int:
        return sum(map(has_generator, self.problems))

    @property
    def left(self) -> int:
        """Number of problems not reached."""
        return self._total - len(self.checked)

    def run(self, judging: JudgingSession, reporter: Reporter) -> bool:
        """Check them with a progress bar; return whether the user interrupted it."""

        def work(pool: Executor, progress: JudgingProgress) -> Coroutine[Any, Any, None]:
            def done(place: int, found: CrossChecked) -> None:
                self.checked[place] = found
                failed = found.infrastructure
                progress.judged(good=not (failed or found.disagree), failed=failed)

            return cross_check_all(
                pool, self.problems, judging.options, done, inputs=self.inputs, most=self.most
            )

        return in_pool(work, judging, reporter, self._total, "problems without disagreement")

    def summary(self) -> CrossChecks:
        """Summarize the problems reached."""
        return summarize_cross_checks(self.problems, self.checked)

    def json_of(self, place: int) -> Any:
        """Return a problem's result for JSON; None if there is none."""
        found = self.checked.get(place)
        return None if found is None else found.model_dump(mode="json")
