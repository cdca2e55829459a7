"""`harness run`: start or resume, print the result, choose the exit code."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.agent.attempt import StopReason
from harness.errors import INTERRUPTED, OK, HarnessError, RunDirectoryError, UsageError
from harness.figures import count, dollars, number_range, words
from harness.models.protocol import Usage
from harness.models.providers import AGENT_PREFIX, REFERENCES, REPLAY_PREFIX
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import PreparedRun
from harness.run.engine.outcome import Outcome
from harness.run.plan.budget import Budget
from harness.run.plan.estimate import ANSWER, CHARACTERS, Estimate, Foretold, estimate
from harness.run.settings.found import found_settings
from harness.run.settings.given import Given
from harness.run.settings.origins import Origin, found_in, found_line, origins
from harness.run.settings.spec import (
    GROWING,
    RESUMABLE,
    RunSpec,
    flag_of,
    given_as,
    known_keys,
    read_spec,
    spec_of,
    with_file,
)
from harness.run.store.directory import (
    check_begun,
    check_new,
    default_path,
    experiment_of,
    has_run,
    read_manifest,
)
from harness.run.store.origin import IMPORT_AGAIN, is_imported
from harness.run.summary.summary import Summary
from harness.terminal.consoles import console, write_json
from harness.terminal.gate import gate
from harness.terminal.pending_lines import without_answer
from harness.terminal.progress import TerminalReporter
from harness.terminal.rich_tables import facts
from harness.terminal.run_progress import run_progress
from harness.terminal.run_screen import print_summary
from harness.text import printable, printable_line

if TYPE_CHECKING:
    from harness.features.observers.attach import Watcher

NOTHING_ASKED = "no request is sent: the answers are there already; the run costs nothing"
AGENT_PAYS = "no request is sent by harness; what the agent asks a model is not known here"


def _ranges(estimate: Estimate, prices_as_of: str | None) -> Iterator[tuple[str, str]]:
    """Yield the ranges of requests, tokens and cost."""
    least, typical, most = estimate.least, estimate.typical, estimate.most
    yield "requests", number_range(*estimate.requests)
    tokens = least.input_tokens, typical.input_tokens, most.input_tokens
    yield "input tokens", _typically(*tokens)
    tokens = least.output_tokens, typical.output_tokens, most.output_tokens
    yield "output tokens", _typically(*tokens)
    if most.reasoning_tokens:
        reasoning = number_range(least.reasoning_tokens, most.reasoning_tokens)
        yield "reasoning", f"{reasoning} of the output tokens, a guess"
    if estimate.cost is None:
        yield "cost", "unknown; --price or --set prices=FILE says what a token costs"
    else:
        low, high = estimate.cost
        cost = dollars(estimate.typical_cost, prices_as_of)
        yield "cost", f"about {cost}, between {dollars(low)} and {dollars(high)}"
    yield (
        "how",
        f"assumes {CHARACTERS} characters per token; about: answers of {ANSWER} tokens, few turns; "
        "lowest: short answers, fewest turns; highest: long answers, all turns",
    )


def _typically(least: int, typical: int, most: int) -> str:
    about = f"about {typical:,}"
    return about if least == most else f"{about}, between {least:,} and {most:,}"


class Running:
    """One invocation of `harness run`."""

    def __init__(
        self,
        *,
        as_json: bool,
        fail_under: float | None = None,
        watchers: "Sequence[Watcher]" = (),
        dry_run: bool = False,
    ) -> None:
        self.as_json = as_json
        self.fail_under = fail_under
        self.out = console()
        self.err = console(error=True)
        self._awaiting_observers: Callable[[], AbstractContextManager[None]] = nullcontext
        watch = run_progress(self.err)
        if watchers:  # few runs have any
            from harness.features.observers.attach import taking_leave, with_watchers

            self._awaiting_observers = partial(taking_leave, watchers, self.err)
            watch = with_watchers(watchers, watch)
        self.controller = RunController(TerminalReporter(self.err), watch)
        self.controller.dry_run = dry_run

    def start(
        self,
        flags: Mapping[str, Any],
        *,
        out: Path | None,
        config: Path | None,
        only: Sequence[str] = (),
    ) -> int:
        """Start a new run, or resume the one at `out`; return the exit code."""
        keys = RunSpec.model_fields
        given = with_file(config, flags).over(found_settings(os.environ, keys))
        spec = spec_of(given, config, given)
        try:
            prepared = self._prepared(spec, flags, out, only)
        except HarnessError:
            self._tell_of_found(given, spec)  # it may be about one of them
            raise
        self._tell_of_found(given, prepared.plan.spec)
        return self._run(prepared, out, given)

    def _tell_of_found(self, given: Given, spec: RunSpec) -> None:
        if line := found_line(found_in([spec], given), given):
            self.controller.reporter.notice(printable_line(line))

    def _prepared(
        self, spec: RunSpec, flags: Mapping[str, Any], out: Path | None, only: Sequence[str]
    ) -> PreparedRun:
        """Prepare a new run, or the rest of the one at `out`."""
        if out is not None and has_run(out):
            if not self.controller.dry_run:
                check_begun(out)
            _refuse_variant(out, flags)
            return self.controller.further(out, spec, read_manifest(out), only)
        if (command := spec.known_mode.begun_by) != "run":
            raise UsageError(
                f"--mode {spec.mode}: `harness {command} --problem ID` begins such a run"
            )
        if only:
            raise UsageError("--only goes with a run that has begun: name it with --resume")
        if out is not None:
            check_new(out)
        return self.controller.new(spec)

    def resume(
        self,
        path: Path,
        flags: Mapping[str, Any],
        *,
        out: Path | None,
        config: Path | None,
        only: Sequence[str] = (),
    ) -> int:
        """Resume a run; return the exit code."""
        given = Given.of(flags)
        fixed = sorted(set(flags) - RESUMABLE - GROWING)
        if fixed or out or config:
            named = given_as(fixed[0] if fixed else "out" if out else "config", given)
            raise UsageError(
                f"{named} cannot be changed on --resume: it would make the run another one"
            )
        before = read_manifest(path)
        if is_imported(before):  # its model may be no name that can be asked
            raise RunDirectoryError(f"{path} was made by `harness import`{IMPORT_AGAIN}")
        _refuse_variant(path, flags)
        spec = read_spec(None, given.over(Given(known_keys(before["spec"]), {})))
        prepared = self.controller.further(path, spec, before, only)
        return self._run(prepared, path, given, str(path))

    def _run(self, prepared: PreparedRun, path: Path | None, given: Given, other: str = "") -> int:
        """Announce the run, and start it unless this is a dry run.

        Args:
            prepared: the run.
            path: the run directory.
            given: settings of this command.
            other: where the other settings are from; default: the recordings that are played.
        """
        self.controller.announce(prepared)
        if self.controller.dry_run:
            plan = prepared.plan
            return self._foretell(prepared, origins(plan.spec, given, other or plan.model_name))
        plan = prepared.plan
        path = path or default_path(plan.spec.mode, plan.model_name)
        with self._awaiting_observers():
            outcome = self.controller.carry_out(prepared, path)
        return self._conclude(outcome, path)

    def _conclude(self, outcome: Outcome, path: Path) -> int:
        """Print the summary and how to resume the run; return the exit code."""
        summary = outcome.summary
        print_summary(self.out, summary, path, as_json=self.as_json)
        if self.controller.interrupts:
            self.err.print(f"interrupted; go on with: harness run --resume {path}")
            return INTERRUPTED
        if outcome.budget.turned_away:
            self._tell_of(outcome.budget, summary, path)
        if outcome.failed:
            self._tell_of_failures(outcome, path)
        return gate(self.err, path, self.fail_under, stranded=outcome.stranded)

    def _tell_of_failures(self, outcome: Outcome, path: Path) -> None:
        """Print why infrastructure left samples pending, and what to do."""
        failed, line = outcome.failed, outcome.stopped_by_provider or ""
        pending, advice = f"{count(len(failed), 'sample')} pending", ""
        if line:
            line = f"{printable_line(line)}; {pending}"
        else:
            first = f"{words(failed[0].word)}: {failed[0].cause}", ""
            cause, sample = next(((e.cause, e.sample) for e in outcome.failures), first)
            cause, *_ = cause.splitlines() or [""]
            line = f"{pending}, the first because: {printable(cause)}"
            reasons, problem = (each.word for each in failed), sample.rpartition("#")[0]
            advice = without_answer(read_manifest(path), reasons, path, problem)
        advice = advice or f"go on with: harness run --resume {path}"
        self.err.print(f"{line}; {advice}", soft_wrap=True)

    def _foretell(self, prepared: PreparedRun, settings: Mapping[str, Origin]) -> int:
        """Print the settings and an estimate of requests and cost; return the exit code."""
        plan = prepared.plan
        own_agent = plan.model_name.startswith(AGENT_PREFIX)
        silent = own_agent or plan.model_name.startswith((REPLAY_PREFIX, REFERENCES))
        if silent:  # what a user's agent costs is unknown
            range_, middle = (None, None) if own_agent else ((0.0, 0.0), 0.0)
            estimated = Estimate((0, 0), Usage(), Usage(), range_, Usage(), middle)
        else:
            estimated = estimate(plan, prepared.samples)
        dated = plan.price.as_of if plan.price and not silent else None
        if self.as_json:
            foretold = Foretold(**estimated._asdict(), prices_as_of=dated, settings=settings)
            write_json(self.out, [foretold.model_dump_json()])
            return OK
        if settings:
            self.out.print(facts((key, each.words) for key, each in settings.items()))
        if silent:
            self.out.print(AGENT_PAYS if own_agent else NOTHING_ASKED)
        else:
            self.out.print(facts(_ranges(estimated, dated)))
        return OK

    def _tell_of(self, budget: Budget, summary: Summary, path: Path) -> None:
        """Print that the run's budget is spent, and how to resume the run."""
        pending = sum(summary.pending.values())
        flag = "--max-tokens-total"
        if budget.turned_away is not StopReason.TOKEN_LIMIT:
            flag = "--max-cost"
        more = f"go on with: harness run --resume {path} {flag} MORE"
        more = more if budget.can_be_raised else f"start a new run without {flag}"
        more = f"{_split(budget, summary)}; {more}" if pending else _split(budget, summary)
        pending_words = count(pending, "sample")
        self.err.print(
            f"{flag} {budget.ending('sample')}; {pending_words} pending{more}", soft_wrap=True
        )


def _refuse_variant(path: Path, flags: Mapping[str, Any]) -> None:
    """Refuse more samples for one variant of an experiment alone. Raises UsageError."""
    given = sorted(GROWING & set(flags))
    experiment = experiment_of(path) if given else None
    if experiment is not None:
        raise UsageError(
            f"{flag_of(given[0])}: {path} is a variant of an experiment, which it would change "
            f"alone; go on with: harness experiment --resume {experiment}"
        )


def _split(budget: Budget, summary: Summary) -> str:
    """Return the cost of graded samples and of pending ones, if there are both."""
    graded, spent = summary.cost, budget.spent.cost
    if graded is None or round(spent - graded, 4) <= 0:
        return ""
    return f"; graded samples cost ${graded:,.4f}, pending ones ${spent - graded:,.4f} so far"
