"""What a resumed run has already spent, and its budget."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import RunDirectoryError
from harness.run.plan.budget import NOTHING, Allowance, Budget, Total
from harness.run.plan.plan import Plan
from harness.run.store.billed_requests import Spent, requests_of
from harness.run.store.directory import RESULTS
from harness.run.store.results import SampleResult, read_results
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import with_costs


@dataclass(frozen=True, slots=True)
class Earlier:
    """Spending on a run so far.

    Attributes:
        requests: all requests; those with unknown usage come last.
        unfinished: requests of samples without a result, by transcript name.
    """

    requests: list[Spent] = field(default_factory=list[Spent])
    unfinished: Mapping[str, list[Spent]] = field(default_factory=dict[str, list[Spent]])

    @property
    def unheard(self) -> int:
        """Number of requests of unfinished samples whose answer was lost."""
        return sum(each.estimated for spent in self.unfinished.values() for each in spent)


def earlier_spending(run: Path, results: Iterable[SampleResult]) -> Earlier:
    """Return the spending on a run so far, by request."""
    done = {file_name(result.problem_id, result.index): result for result in results}
    spent: list[Spent] = []
    unfinished: dict[str, list[Spent]] = {}
    transcripts = Transcripts(run)
    names = set(transcripts.names())
    for name in names:
        of_sample: list[Spent] = []
        with suppress(RunDirectoryError):  # broken transcripts are restarted
            of_sample += requests_of(transcripts.events(name))
        spent += of_sample
        if name not in done:
            unfinished[name] = of_sample
    spent += [
        Spent(result.usage, result.model_calls)
        for name, result in done.items()
        if name not in names and result.model_calls
    ]
    return Earlier(sorted(spent, key=lambda each: each.usage is None), unfinished)


def budget_of(plan: Plan, path: Path, elsewhere: Total = NOTHING) -> Budget:
    """Return a run's budget, including what was already spent, here and elsewhere."""
    spec = plan.spec
    allowance = Allowance(spec.max_cost, spec.max_tokens_total, spec.max_cost_per_sample)
    budget = Budget(allowance, plan.price, elsewhere)
    if budget.is_limited:
        done = with_costs(read_results(path / RESULTS), plan.price)
        earlier = earlier_spending(path, done)
        for spent in earlier.requests:
            budget.count(spent)
        for result in done:
            if result.usage is not None:
                budget.finish(budget.amounts([Spent(result.usage)]))
        budget.begun = {name: budget.amounts(spent) for name, spent in earlier.unfinished.items()}
    return budget
