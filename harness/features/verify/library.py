"""`harness.verify`: judge a benchmark's references, as `harness verify` does."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Unpack

from rich.console import Group, RenderableType

from harness.errors import UsageError
from harness.features.verify.generated import (
    MOST_INPUTS,
    CrossChecked,
    CrossChecks,
    cross_check_all,
    has_generator,
    summarize_cross_checks,
)
from harness.features.verify.verification import (
    References,
    Verification,
    VerifiedProblem,
    cross_checks_view,
    finding,
    list_references,
    reference_jobs,
    summarize_verification,
    verification_view,
    verified,
)
from harness.grading.jobs import Judged
from harness.grading.reference_verdicts import Finding, VerifiedCache, default_folder
from harness.problem import Problem
from harness.run.plan.problem_loader import Benchmark, checked, name_of, read
from harness.run.reporter import LOG, JudgingProgress, Reporter
from harness.run.session.judging_session import JudgingSession, in_pool, judge_jobs, session_of
from harness.run.spec.keys import JudgingKeys, SelectionKeys, listing, python_words, spec_from
from harness.sandbox.executor import Executor
from harness.sandbox.isolation import Level
from harness.sources.benchmarks import parse_spec
from harness.sources.selection import select
from harness.terminal.notebook import NotebookView
from harness.text import count, printable_line


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


OWN = ("benchmark", "references", "generated", "fresh")
GIVEN = "given"
"""Name of the stored verdicts on problems that were given without a benchmark's name."""


class VerifyKeys(SelectionKeys, JudgingKeys, total=False):
    """Keys of `verify`: selection of problems, and grading."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to verify, besides the problems.

    Attributes:
        most: most references of a problem, from the first; None for all.
        inputs: number of inputs to generate for each problem, on which its references are compared;
            None for none.
        fresh: also judge references with a stored verdict.

    Raises:
        UsageError: a number is out of range.
    """

    most: int | None = None
    inputs: int | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise UsageError(f"--references {self.most}: give 1 or more")
        if self.inputs is not None and not 1 <= self.inputs <= MOST_INPUTS:
            what = f"give inputs per problem, from 1 to {MOST_INPUTS}"
            raise UsageError(f"--generated {self.inputs}: {what}")


@dataclass(frozen=True, slots=True)
class VerifiedBenchmark(NotebookView):
    """A benchmark's references, judged.

    Attributes:
        summary: all figures, as in `harness verify --json`.
        problems: the selected problems, each with its judged references.
        generated: comparison of the references on generated inputs; None if none was requested.
        interrupted: whether an interrupt ended the work.
        left: number of references that an interrupt left.
        resumable: whether the verdicts so far are stored.
    """

    summary: Verification
    problems: tuple[VerifiedProblem, ...]
    generated: CrossChecking | None = None
    interrupted: bool = False
    left: int = 0
    resumable: bool = True

    @property
    def checks(self) -> CrossChecks | None:
        """Summary of the comparison on generated inputs."""
        return None if self.generated is None else self.generated.summary()

    def view(self) -> RenderableType:
        """Return the tables that `harness verify` prints."""
        shown = [verification_view(self.summary, self.problems)]
        if self.generated is not None and self.checks is not None:
            found = self.generated
            shown.append(cross_checks_view(self.checks, found.problems, found.checked))
        return Group(*shown)

    def __repr__(self) -> str:
        total = self.summary
        return (
            f"<VerifiedBenchmark: {total.accepted} of {count(total.references, 'reference')} pass>"
        )


@listing(VerifyKeys)
@python_words("verify()")
def verify(
    benchmark: Benchmark,
    *,
    references: int | None = None,
    generated: int | None = None,
    fresh: bool = False,
    **keys: Unpack[VerifyKeys],
) -> VerifiedBenchmark:
    """Judge a benchmark's reference solutions: which fail, which are slow, what has no tests.

    Verdicts are stored: what has not changed is not judged again.

    Args:
        benchmark: `NAME[:WHERE]`, loaded problems, or rows.
        references: most references of a problem, from the first; None for all.
        generated: number of inputs of the problem's own generator on which its references are
            compared, 1 to 1,000; None for none.
        fresh: judge again what has been judged before.
        keys: settings of judging, and of the selection of problems.

    Raises:
        UsageError: a key or value is not accepted, or no problem has a generator.
        DataError: a row is malformed.
        NothingSelectedError: no problem is left.
        IsolationError: no sandbox of the required strength is available.
        KeyboardInterrupt: the user interrupted; the verdicts so far are stored.
    """
    wanted = Wanted(references, generated, fresh)
    given = checked(benchmark)
    name = name_of(given)
    spec = spec_from("verify()", keys, VerifyKeys, OWN, benchmark=name)
    problems = select(read(given, spec).problems, spec.selection()).problems
    source = GIVEN if name is None else parse_spec(name).name
    found = verify_problems(problems, source, session_of(spec), wanted, LOG)
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def verify_problems(
    problems: Sequence[Problem],
    source: str,
    judging: JudgingSession,
    wanted: Wanted,
    reporter: Reporter,
    *,
    reading: AbstractContextManager[Any] | None = None,
    tell_known: Callable[[int, int], None] | None = None,
) -> VerifiedBenchmark:
    """Judge the references of problems, for the command and the library.

    Args:
        problems: the selected problems.
        source: name of the stored verdicts.
        judging: settings of judging.
        wanted: which references, and how.
        reporter: shows the progress.
        reading: shows that references are read.
        tell_known: called with the number of known verdicts, and of all, if any is known.

    Raises:
        UsageError: generated inputs are wanted, and no problem has a generator.
        IsolationError: no sandbox is strong enough.
    """
    generated = None
    if wanted.inputs is not None:
        generated = CrossChecking(problems, wanted.inputs, wanted.most)
    with reading or nullcontext():
        listed = list_references(problems, wanted.most, judging.options)
    keys = [key for each in listed for key in each.keys]

    def warn(message: str) -> None:
        reporter.notice(printable_line(message))

    with VerifiedCache(source, default_folder(), warn) as cache:
        least = Level.NONE if judging.unsafe else judging.least  # weaker verdicts do not count
        found = {} if wanted.fresh else cache.find(keys, least)
        if found and tell_known is not None:
            tell_known(sum(key in found for key in keys), len(keys))
        interrupted = _judge(listed, found, cache, judging, reporter)
    if generated is not None and not interrupted:
        interrupted = generated.run(judging, reporter)
    results = verified(listed, found, judging.options)
    left = sum(key not in found for key in keys)
    return VerifiedBenchmark(
        summarize_verification(results), tuple(results), generated, interrupted, left, cache.keeps
    )


def _judge(
    listed: Sequence[References],
    found: dict[str, Finding],
    cache: VerifiedCache,
    judging: JudgingSession,
    reporter: Reporter,
) -> bool:
    """Judge the rest into `found`, storing each; return whether the user interrupted."""
    jobs = reference_jobs(listed, found)

    def keep(judged: Judged) -> None:
        key = jobs[judged.number].key
        found[key] = finding(judged)
        cache.add(key, found[key])

    return judge_jobs(jobs, judging, reporter, "references", keep)
