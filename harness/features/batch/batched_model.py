"""A model that answers from batches which ended before the first sample.

The first requests of a run's samples do not depend on one another, so all can be built in advance.
They are sent in batches, and `BatchedModel` then answers each sample from the results. Strategy,
judge, transcripts and results are the same as without `--batch`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import DataError
from harness.features.batch.batch_endpoint import BatchEndpoint, BatchRequest, custom_id
from harness.features.batch.batch_journal import BatchJournal
from harness.features.batch.requests import BatchRequests, PendingRequest
from harness.features.batch.spool import Spool
from harness.models.clients.retry import Pace
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.problem import Problem, ProblemView
from harness.run.plan.plan import Plan
from harness.run.store.directory import BATCHES, RunDirectory
from harness.run.store.transcript import sample_name


@dataclass(frozen=True, slots=True)
class BatchedModel:
    """A model that answers from batches that have ended.

    Attributes:
        name: the model's name in the results.
        asking: the run's requests and their answers.
        sample: the sample's name; empty until `for_sample` sets it.
    """

    name: str
    asking: BatchRequests
    sample: str = ""

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Return the model for one sample of a problem."""
        return BatchedModel(self.name, self.asking, sample_name(problem.id, index))

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Return the answer that a batch holds to exactly this request.

        Raises:
            ModelError: there is no answer; the message quotes the provider.
        """
        del on_retry
        body = self.asking.endpoint.body(messages, settings)
        name = custom_id(self.asking.journal.run, self.sample, body)
        if tools or name not in self.asking.asked:
            raise ModelError("this request is in no batch")
        return self.asking.answer(name)

    async def close(self) -> None:
        """Close the connections, the answers and the journal."""
        await self.asking.endpoint.close()
        self.asking.answers.close()
        self.asking.journal.close()


def batched(  # noqa: PLR0917 - the parts of a run
    plan: Plan,
    directory: RunDirectory,
    samples: Sequence[tuple[Problem, int]],
    endpoint: BatchEndpoint,
    tell: Callable[[str], None],
    pace: Pace | None = None,
) -> BatchedModel:
    """Build the model of a `--batch` run; `asking.ask_all()` then sends the requests.

    Args:
        plan: the run's plan.
        directory: the run directory, for `batches.jsonl`.
        samples: samples without a result.
        endpoint: the provider's batch API.
        tell: called with a line of text at every change.
        pace: clock and sleep of the waits.

    Raises:
        RunDirectoryError: the run's `batches.jsonl` cannot be used.
        StorageError: the disk refused a write.
    """
    journal = BatchJournal(directory.path / BATCHES)
    asked = {
        each.request.custom_id: each for each in _requests(plan, samples, endpoint, journal.run)
    }
    answers = Spool(directory.path)
    return BatchedModel(
        plan.model_name, BatchRequests(endpoint, journal, asked, answers, tell, pace or Pace())
    )


def _requests(
    plan: Plan, samples: Sequence[tuple[Problem, int]], endpoint: BatchEndpoint, run: str
) -> list[PendingRequest]:
    """Build the request that single shot sends in each sample."""
    found: list[PendingRequest] = []
    sound: dict[str, bool] = {}
    for problem, index in samples:
        if problem.id not in sound:
            sound[problem.id] = _is_sound(problem)
        if not sound[problem.id]:
            continue
        cpu_s = plan.judging.limits(problem).cpu_s
        messages = plan.prompt.render(problem.view(), cpu_s)
        body = endpoint.body(messages, plan.settings)
        name = custom_id(run, sample_name(problem.id, index), body)
        found.append(PendingRequest(BatchRequest(name, body), messages))
    return found


def _is_sound(problem: Problem) -> bool:
    """Return whether the row can be graded; if not, the engine reports why."""
    try:
        problem.tests.load_hidden()
    except DataError:
        return False
    return True
