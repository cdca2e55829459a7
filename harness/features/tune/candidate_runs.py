"""Runs of candidates on problems: a run directory each, on the budget of the whole tuning."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.features.experiment.run_parts import carry_out_part, first_failure, prepare_part
from harness.features.tune.tune_file import Ended
from harness.models.prices.price import cost
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import Usage
from harness.models.providers import REFERENCES
from harness.run.engine.controller import RunController
from harness.run.engine.earlier_spending import earlier_spending
from harness.run.engine.lifecycle import PreparedRun
from harness.run.engine.outcome import Outcome
from harness.run.plan.budget import NOTHING, Total
from harness.run.plan.target import resolve_target
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import MANIFEST, RESULTS
from harness.run.store.results import SampleResult, read_results
from harness.run.summary.loaded_run import price_in
from harness.sources.files.rows import Loaded
from harness.text import printable_line


def usual(*keys: str) -> dict[str, Any]:
    """Return the usual values of settings, by key."""
    return {key: RunSpec.model_fields[key].get_default() for key in keys}


NOT_SELECTING = usual(
    *("filter_difficulty", "filter_tags", "filter_platform"),
    *("min_release_date", "max_release_date", "exclude_known_issues", "sample_size", "sampling"),
)
"""Values of the settings that select problems, where they are named."""


class SearchStoppedError(BaseException):
    """The search must end; no `Exception`, which the search would take for a failed proposal.

    Attributes:
        ended: why, in a word; `remark` in a line.
    """

    def __init__(self, ended: Ended, remark: str = "") -> None:
        self.ended: Ended = ended
        self.remark = remark
        super().__init__(remark)


@dataclass(slots=True)
class CandidateRuns:
    """The runs of all candidates in one folder.

    Attributes:
        controller: carries runs out, and counts interrupts.
        spec: settings of every run, with the budget of the whole tuning.
        folder: holds a run directory per candidate.
        loaded: the problems, loaded once.
        elsewhere: returns what is spent outside these runs, on reflection.
    """

    controller: RunController
    spec: RunSpec
    folder: Path
    loaded: Loaded
    elsewhere: Callable[[], Total] = lambda: NOTHING
    _spent: dict[Path, Total] = field(default_factory=dict[Path, Total])

    def prepare(self, prompt: Path, run_name: str, problems: Sequence[str]) -> PreparedRun:
        """Prepare the run of a candidate without starting it.

        Args:
            prompt: the candidate's prompt folder.
            run_name: name of its run directory.
            problems: ids of all problems that this run may ask.

        Raises:
            HarnessError: see `harness.run.plan.plan.prepare`.
        """
        path = self.folder / run_name
        named = {**NOT_SELECTING, "task": tuple(problems), "prompt": str(prompt)}
        spec = self.spec.model_copy(update=named)
        return prepare_part(self.controller, path, spec, lambda _: self.loaded)

    def ask(
        self,
        prompt: Path,
        run_name: str,
        problems: Sequence[str],
        wanted: Collection[str],
        allowance: Total | None = None,
    ) -> Mapping[str, Sequence[SampleResult]]:
        """Return a candidate's results on problems; only those that are missing are asked.

        Args:
            prompt: as in `prepare`.
            run_name: as in `prepare`.
            problems: as in `prepare`.
            wanted: ids of the problems to ask now.
            allowance: what may be spent on all together; None for the spec's own limits.

        Raises:
            SearchStoppedError: samples stay pending: the budget is spent, the user interrupted,
                or infrastructure failed.
        """
        path = self.folder / run_name
        if done := self._done(path, wanted):
            return done
        if self.controller.interrupts:
            raise SearchStoppedError("interrupted")
        prepared = self.prepare(prompt, run_name, problems)
        spec = prepared.plan.spec
        if allowance is not None:
            limits = {
                "max_cost": None if spec.max_cost is None else max(allowance.cost, 0.0),
                "max_tokens_total": None
                if spec.max_tokens_total is None
                else max(int(allowance.tokens), 0),
            }
            spec = spec.model_copy(update=limits)
        samples = [each for each in prepared.samples if each[0].id in wanted]
        prepared = prepared._replace(samples=samples, plan=replace(prepared.plan, spec=spec))
        others = self.spent(but=path) if spec.max_cost or spec.max_tokens_total else NOTHING
        outcome = carry_out_part(prepared, path, others, self.controller.carry_out)
        self._spent.pop(path, None)
        if done := self._done(path, wanted):
            return done
        raise self._stopped(outcome)

    def spent(self, but: Path | None = None) -> Total:
        """Return what all runs, but one, and everything else have spent."""
        runs = sorted(path.parent for path in self.folder.glob(f"*/{MANIFEST}"))
        return sum((self._spent_by(path) for path in runs if path != but), self.elsewhere())

    def mean_cost(self, results: Iterable[SampleResult]) -> Total:
        """Return the mean spend of a sample of some results."""
        usages = [each.usage for each in results if each.usage is not None]
        if not usages:
            return NOTHING
        return times(amount_of(usages, self._price), 1 / len(usages))

    def _done(
        self, path: Path, wanted: Collection[str]
    ) -> Mapping[str, Sequence[SampleResult]] | None:
        """Return the results on the wanted problems; None if a sample is missing."""
        results: dict[str, list[SampleResult]] = {problem: [] for problem in wanted}
        for result in read_results(path / RESULTS):
            if result.problem_id in results and result.index < self.spec.samples_per_problem:
                results[result.problem_id].append(result)
        if any(len(each) < self.spec.samples_per_problem for each in results.values()):
            return None
        return results

    def _stopped(self, outcome: Outcome) -> SearchStoppedError:
        if self.controller.interrupts:
            return SearchStoppedError("interrupted")
        if outcome.budget.turned_away is not None:
            return SearchStoppedError("budget", outcome.budget.state)
        cause = outcome.stopped_by_provider or first_failure(outcome)
        return SearchStoppedError("pending", printable_line(cause))

    def _spent_by(self, path: Path) -> Total:
        if path not in self._spent:
            self._spent[path] = spent_by_run(path)
        return self._spent[path]

    @property
    def _price(self) -> ListedPrice | None:
        first = next(iter(sorted(self.folder.glob(f"*/{MANIFEST}"))), None)
        return None if first is None else price_in(first.parent)


def spent_by_run(path: Path) -> Total:
    """Return what a run has spent, lost answers included; zero dollars if no price is known."""
    price = price_in(path)
    requests = earlier_spending(path, read_results(path / RESULTS)).requests
    return amount_of((each.usage for each in requests if each.usage is not None), price)


def amount_of(usages: Iterable[Usage], price: ListedPrice | None) -> Total:
    """Return the dollars and tokens of some requests; zero dollars if no price is known."""
    whole = sum(usages, Usage())
    return Total(cost(whole, price) or 0.0, whole.total_tokens)


def times(total: Total, factor: float) -> Total:
    """Return so many times the dollars and tokens."""
    return Total(total.cost * factor, total.tokens * factor)


def most_of(totals: Iterable[Total]) -> Total:
    """Return the most dollars and the most tokens; zero of none."""
    each = [NOTHING, *totals]
    return Total(max(one.cost for one in each), max(one.tokens for one in each))


def refuse_recorded(spec: RunSpec) -> None:
    """Refuse recordings and references, which do not hear a prompt. Raises UsageError."""
    target = resolve_target(spec, os.environ)
    if target.recordings or target.name == REFERENCES:
        raise _unheard(target.name)


def refuse_function(prepared: PreparedRun) -> None:
    """Refuse a function of a problem, which does not hear a prompt. Raises UsageError."""
    from harness.models.function import FunctionModel

    if isinstance(prepared.plan.model, FunctionModel):
        raise _unheard(prepared.plan.model_name)


def _unheard(name: str) -> UsageError:
    return UsageError(
        f"model {name!r} does not hear a prompt, so there is nothing to tune; name a language "
        "model with -m"
    )
