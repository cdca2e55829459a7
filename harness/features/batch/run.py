"""The batch transport of a run, including interrupts while it waits.

The first requests of a run's samples do not depend on one another, so all can be built in advance.
They are sent in batches, and `BatchedModel` then answers each sample from the results. Strategy,
judge, transcripts and results are the same as without `--batch`.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from signal import Signals
from typing import Any, NamedTuple

from harness.errors import DataError, UsageError
from harness.features.batch.batch_endpoint import BatchEndpoint, BatchRequest
from harness.features.batch.batch_journal import BatchJournal
from harness.features.batch.requests import BatchRequests, custom_id
from harness.features.batch.spool import Spool
from harness.languages.starters import view_in
from harness.models.clients.retry import Pace
from harness.models.clients.timeouts import Timeouts
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.providers import Protocol
from harness.models.route import Route
from harness.problem import Problem, ProblemView
from harness.run.plan.plan import Plan, Start
from harness.run.store.directory import BATCHES, RunDirectory
from harness.run.store.transcript import sample_name

GRACE_S = 10.0
"""Seconds after an interrupt that a call under way has left, such as one that makes a batch."""


class BatchedModel(NamedTuple):
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
    asked = {each.custom_id: each for each in _requests(plan, samples, endpoint, journal.run)}
    answers = Spool(directory.path)
    return BatchedModel(
        plan.model_name, BatchRequests(endpoint, journal, asked, answers, tell, pace or Pace())
    )


def _requests(
    plan: Plan, samples: Sequence[tuple[Problem, int]], endpoint: BatchEndpoint, run: str
) -> list[BatchRequest]:
    """Build the request that single shot sends in each sample."""
    requests: list[BatchRequest] = []
    sound = {problem.id: _is_sound(problem) for problem in {p.id: p for p, _ in samples}.values()}
    for problem, index in samples:
        if not sound[problem.id]:
            continue
        cpu_s = plan.judging.limits(problem).cpu_s
        messages = plan.prompt.render(view_in(problem, plan.judging.language), cpu_s)
        body = endpoint.body(messages, plan.settings)
        name = custom_id(run, sample_name(problem.id, index), body)
        requests.append(BatchRequest(name, body, messages))
    return requests


def _is_sound(problem: Problem) -> bool:
    """Return whether the row can be graded; if not, the engine reports why."""
    try:
        problem.tests.load_hidden()
    except DataError:
        return False
    return True


def batch_route(name: str, route: Route | None) -> Route:
    """Return the route of a run's batches.

    Raises:
        UsageError: the model's provider has no batch API.
    """
    if route is None:
        raise UsageError(f"--batch: {name[:100]!r} is not a provider's model; leave --batch out")
    if not route.batches:
        raise UsageError(
            f"--batch: {route.provider} has no batch API like OpenAI's or Anthropic's; leave it out"
        )
    return route


def open_batches(route: Route, timeouts: Timeouts | None = None) -> BatchEndpoint:
    """Open the batch API of a route, with the protocol of its single requests."""
    from harness.features.batch.anthropic_batches import AnthropicBatches
    from harness.features.batch.openai_batches import CHAT_COMPLETIONS, RESPONSES, OpenAIBatches

    settings: dict[str, Any] = {**route.connection, "timeouts": timeouts}
    if route.protocol is Protocol.MESSAGES:
        return AnthropicBatches(route.model, **settings)
    url = RESPONSES if route.protocol is Protocol.RESPONSES else CHAT_COMPLETIONS
    return OpenAIBatches(route.model, url=url, **settings)


def check_start(start: Start) -> None:
    """Refuse settings that cannot be combined with `--batch`.

    Raises:
        UsageError: the spec has a budget (all requests are submitted before any cost is known), or
            the provider has no batch API.
    """
    spec = start.spec
    limits = {
        "--max-cost": spec.max_cost,
        "--max-tokens-total": spec.max_tokens_total,
        "--set max_cost_per_sample": spec.max_cost_per_sample,
    }
    flag = next((flag for flag, limit in limits.items() if limit is not None), None)
    if flag is not None:
        raise UsageError(
            f"{flag} cannot be kept with --batch, which asks everything at once; leave one of them "
            "out (--dry-run tells what a run may cost)"
        )
    if spec.outage_timeout is not None:
        raise UsageError(
            "--set outage_timeout goes with requests that are sent one by one, not with --batch"
        )
    batch_route(start.target.name, start.target.route)


async def ask_by_batch(  # noqa: PLR0917 - the parts of a run
    plan: Plan,
    directory: RunDirectory,
    samples: Sequence[tuple[Problem, int]],
    tell: Callable[[str], None],
    stopping: Sequence[Signals],
    interrupted: Callable[[], None],
) -> Plan | None:
    """Wait for all batches; return the plan with a model that answers from them.

    Args:
        plan: the run's plan.
        directory: the run directory, for `batches.jsonl`.
        samples: samples without a result.
        tell: called with a line of text about the batches' progress.
        stopping: signals that count as an interrupt. The first ends the waiting; the second, or
            `GRACE_S` seconds, cancels everything else. The batches stay at the provider, and one
            that was being made is looked for when the run is resumed.
        interrupted: called at each interrupt.

    Returns:
        None if the user interrupted the waiting.

    Raises:
        RunDirectoryError: the run's `batches.jsonl` cannot be used.
        StorageError: the disk refused a write.
    """
    await plan.model.close()
    endpoint = open_batches(batch_route(plan.model_name, plan.target.route), plan.spec.timeouts)
    model = await asyncio.to_thread(batched, plan, directory, samples, endpoint, tell)
    asking = asyncio.ensure_future(model.asking.ask_all())
    interrupts = 0

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        interrupted()
        if interrupts > 1:
            asking.cancel()
            return
        model.asking.stop()
        tell("interrupted: submitted batches stay at the provider; resume the run to read them")
        loop.call_later(GRACE_S, asking.cancel)

    loop = asyncio.get_running_loop()
    for word in stopping:
        loop.add_signal_handler(word, interrupt)
    whole = False
    try:
        whole = await asking
    except asyncio.CancelledError:
        if not interrupts:
            raise
    finally:
        for word in stopping:
            loop.remove_signal_handler(word)
        if not whole:
            await model.close()
    return replace(plan, model=model) if whole else None


class BatchTransport:
    """Transport of `--batch`; satisfies `harness.run.plan.target.Transport`."""

    with_answers = staticmethod(ask_by_batch)


BATCH = BatchTransport()
