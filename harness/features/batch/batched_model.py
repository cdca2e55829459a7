"""A run by the batch: everything is asked before the first sample begins.

A model's answers to a run's first requests do not depend on one another, so all are known before
any is asked. `BatchedModel` asks them together, and then answers each sample from what came back:
strategy, judge, transcripts and results are the same as without.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import DataError
from harness.features.batch.batch_endpoint import BatchEndpoint, BatchRequest, custom_id
from harness.features.batch.batch_journal import BatchJournal
from harness.features.batch.open_batches import batch_route, open_batches
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
from harness.run.plan.target import access_of, environment_of, timeouts_of
from harness.run.store.directory import BATCHES, RunDirectory
from harness.run.store.transcript import sample_name


@dataclass(frozen=True, slots=True)
class BatchedModel:
    """Answers from batches that have ended.

    Attributes:
        name: what results are filed under.
        asking: what was asked.
        sample: whose answers these are; empty until `for_sample` says it.
    """

    name: str
    asking: BatchRequests
    sample: str = ""

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """The model that answers for one sample of a problem."""
        return BatchedModel(self.name, self.asking, sample_name(problem.id, index))

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """The answer that a batch holds to this very request.

        Raises:
            ModelError: there is none; the message holds the provider's words.
        """
        del on_retry
        body = self.asking.endpoint.body(messages, settings)
        name = custom_id(self.asking.journal.run, self.sample, body)
        if tools or name not in self.asking.asked:
            raise ModelError("this request is in no batch")
        return self.asking.answer(name)

    async def close(self) -> None:
        """Let go of connections and of the answers."""
        await self.asking.endpoint.close()
        self.asking.answers.close()
        self.asking.journal.close()


def endpoint_of(plan: Plan, environ: Mapping[str, str]) -> BatchEndpoint:
    """Where a plan's batches go. Raises UsageError."""
    spec = plan.spec
    route = batch_route(
        plan.model_name,
        base_url=spec.base_url,
        environment=environment_of(spec, environ),
        **access_of(spec),
    )
    return open_batches(route, timeouts_of(spec))


def batched(  # noqa: PLR0917 - what a run consists of
    plan: Plan,
    directory: RunDirectory,
    samples: Sequence[tuple[Problem, int]],
    endpoint: BatchEndpoint,
    tell: Callable[[str], None],
    pace: Pace | None = None,
) -> BatchedModel:
    """The model of a run by the batch; nothing is asked until `asking.ask_all()`.

    Args:
        plan: of the run.
        directory: where `batches.jsonl` lies, or will.
        samples: those that have no result yet.
        endpoint: where they are asked.
        tell: is handed a line for people at every change.
        pace: time, for the waits.

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
    """What single shot asks in each sample."""
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
    """Whether the row can be graded; if not, the engine says why, and nothing is paid for it."""
    try:
        problem.tests.load_hidden()
    except DataError:
        return False
    return True
