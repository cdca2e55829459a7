"""How solutions are judged, according to flags or a spec: options, workers, sandbox."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import UsageError
from harness.grading.jobs import Options
from harness.grading.rules import find_rule
from harness.run.plan.judging_options import judging_of, reference_limits
from harness.run.plan.problem_kinds import said_in
from harness.run.reporter import Reporter
from harness.run.session.isolation import isolate
from harness.run.settings.execution_settings import read_test_timeout
from harness.run.settings.spec import RunSpec, read_spec
from harness.sandbox.executor import Executor, Where
from harness.sandbox.isolation import Level
from harness.text import printable_line

if TYPE_CHECKING:
    from harness.problem import Problem


class JudgingSession(NamedTuple):
    """How solutions are graded, according to the flags.

    Attributes:
        options: options of grading.
        where: executor: this machine or several, and the number of workers.
        least: the lowest acceptable sandbox level.
        unsafe: whether to continue without a sandbox if none is available.
        by_reference: `reference*FACTOR`, if time limits are derived from references.
        given: keys of the spec that were given.
    """

    options: Options
    where: Where = Where()
    least: Level = Level.LANDLOCK
    unsafe: bool = False
    by_reference: str | None = None
    given: tuple[str, ...] = ()

    def open(self, reporter: Reporter) -> AbstractAsyncContextManager[Executor]:
        """Return the workers that judge, as a context manager.

        Raises:
            IsolationError: there is no sandbox that is strong enough.
        """
        isolation = isolate(reporter, self.least, unsafe=self.unsafe).isolation
        return self.where.open(isolation, lambda line: reporter.notice(printable_line(line)))

    def for_problems(
        self, problems: Sequence["Problem"], spec: str, reporter: Reporter
    ) -> "JudgingSession":
        """Return the session with limits from the problems' references, if requested.

        Args:
            problems: the problems of the solutions.
            spec: the problems' `NAME[:WHERE]`.
            reporter: shows how many have no reference.

        Raises:
            UsageError: no problem has a verified reference.
        """
        if self.by_reference is None:
            return self
        limits, notice = reference_limits(self.by_reference, problems, spec, self.options)
        if notice:
            reporter.notice(notice)
        return self._replace(options=replace(self.options, cpu_by_problem=limits))


def judging(flags: Mapping[str, Any], *, by_reference: bool = True) -> JudgingSession:
    """Return the session of some flags, checked as for a run.

    Args:
        flags: the given flags, by key of the spec.
        by_reference: whether `--test-timeout` may be `reference*FACTOR`.

    Raises:
        UsageError: a value is out of range.
    """
    if "test_timeout" in flags and not by_reference:
        try:
            read_test_timeout(flags["test_timeout"], by_reference=False)
        except ValueError as error:
            raise UsageError(f"--test-timeout {flags['test_timeout']}: {error}") from error
    spec = read_spec(None, flags)
    if spec.rule is not None:
        find_rule(spec.rule)
    return session_of(spec)


def session_of(spec: RunSpec) -> JudgingSession:
    """Return how a spec has solutions judged."""
    return JudgingSession(
        judging_of(spec),
        spec.where,
        spec.require_isolation,
        spec.unsafe_no_sandbox,
        spec.test_timeout if isinstance(spec.test_timeout, str) else None,
        tuple(said_in(spec)),
    )
