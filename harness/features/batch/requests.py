"""Send requests in batches: submit, wait, read results, repeat what failed.

Open batches stay at the provider when this process ends; the next one finds them in the journal.
If a submission got no answer, the batch may or may not exist, so the provider's list is searched.
OpenAI's batches carry the journal's token in their metadata, so only one that is not listed yet
would be missed. Anthropic's carry no token: batches of the right size and time are waited for, as
only results show the custom ids. An orphan is missed there only if it was created more than an
hour after its intent. Nothing is paid twice unless the lists are incomplete.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from harness.features.batch.batch_endpoint import (
    BatchAnswer,
    BatchEndpoint,
    BatchRequest,
    BatchState,
)
from harness.features.batch.batch_journal import BatchJournal, RecordedBatch
from harness.features.batch.spool import Spool
from harness.figures import count
from harness.models.clients.retry import Pace, RetryPolicy, ask_until_answered
from harness.models.clients.wire import Json
from harness.models.faults import PolicyRefusedError, RejectedError, TransientError
from harness.models.protocol import ModelError, ModelTurn

MOST_TRIES = 3
GONE_STATUSES = frozenset({404, 410})
FIRST_WAIT_S, LONGEST_WAIT_S, WAIT_GROWTH = 5.0, 60.0, 1.5


CUSTOM_ID_NAME = 39  # characters of the sample's name in a custom id, which may have 64 in all


def custom_id(run: str, sample: str, body: Json) -> str:
    """Return the custom id of a sample's request, stable within a run.

    At most 64 letters, digits, `-` and `_`, because Anthropic accepts no others. It is the end of
    the sample's name, for people to read, and a hash of run, sample and body.
    """
    text = json.dumps([run, sample, body], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '-', sample)[-CUSTOM_ID_NAME:]}-{digest}"


def split(
    requests: Iterable[BatchRequest], endpoint: BatchEndpoint
) -> Iterator[tuple[BatchRequest, ...]]:
    """Split requests, in order, into batches within the provider's limits."""
    group: list[BatchRequest] = []
    size = 0
    for request in requests:
        more = endpoint.size(request)
        if group and (len(group) >= endpoint.most_requests or size + more > endpoint.most_bytes):
            yield tuple(group)
            group, size = [], 0
        group.append(request)
        size += more
    if group:
        yield tuple(group)


class _Stopped(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user stopped the waiting."""


@dataclass(slots=True)
class BatchRequests:
    """The requests of one run, sent in batches until each is answered or given up.

    Attributes:
        endpoint: the provider's batch API.
        journal: batches submitted so far, by this process and earlier ones.
        asked: requests by custom id.
        answers: store for the answers.
        tell: called with a line of text at every change.
        pace: clock and sleep of the waits.
        policy: how often a submission with an unknown outcome is repeated.
    """

    endpoint: BatchEndpoint
    journal: BatchJournal
    asked: Mapping[str, BatchRequest]
    answers: Spool
    tell: Callable[[str], None]
    pace: Pace = field(default_factory=Pace)
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    _errors: dict[str, TransientError | ModelError] = field(
        default_factory=dict[str, TransientError | ModelError]
    )
    _unknown: set[str] = field(default_factory=set[str])
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _told: str = ""

    async def ask_all(self) -> bool:
        """Send all requests and wait for the answers; return False if `stop` came first.

        Raises:
            StorageError: the disk refused a write.
        """
        try:
            await self._find_orphans()
            await self._submit(i for i in self.asked if not self.journal.tries(i))
            ours = self.asked.keys()
            await self._collect(
                each for each in self.journal.submitted if not ours.isdisjoint(each.custom_ids)
            )
            while again := self._to_ask_again():
                known = {batch.token for batch in self.journal.submitted}
                await self._submit(again)
                await self._collect(b for b in self.journal.submitted if b.token not in known)
        except _Stopped:
            return False
        missing = [i for i in self.asked if i not in self.answers and i not in self._unknown]
        self.journal.give_up(missing)
        return True

    def stop(self) -> None:
        """Stop waiting; submitted batches stay at the provider."""
        self._stop.set()

    def answer(self, custom_id: str) -> ModelTurn:
        """Return the answer to a request.

        Raises:
            ModelError: there is no answer; the message quotes the provider.
        """
        turn = self.answers.get(custom_id)
        if turn is not None:
            return turn
        error = self._errors.get(custom_id)
        if isinstance(error, ModelError):
            raise error
        tries = self.journal.tries(custom_id) or MOST_TRIES
        raise ModelError(f"{error or 'no answer in its batch'} (asked in {tries} batches)")

    def _to_ask_again(self) -> list[str]:
        return [
            custom_id
            for custom_id, error in self._errors.items()
            if isinstance(error, TransientError)
            and custom_id not in self.answers
            and self.journal.tries(custom_id) < MOST_TRIES
        ]

    # Submitting

    async def _submit(self, custom_ids: Iterable[str]) -> None:
        requests = [self.asked[i] for i in custom_ids if i not in self._unknown]
        for group in split(requests, self.endpoint):
            if self._stop.is_set():
                raise _Stopped
            batch = self.journal.intend(request.custom_id for request in group)
            try:
                batch_id = await self._hand_in(batch, group)
            except ModelError as error:
                if isinstance(error, RejectedError):
                    self.journal.drop(batch, str(error))
                else:
                    self._unknown.update(batch.custom_ids)
                self._fail(batch.custom_ids, ModelError(str(error)))
                self._say(f"a batch was not taken: {error}")
            else:
                self.journal.submit(batch, batch_id)
                self._say(f"batch {batch_id}: {len(group):,} requests handed in")

    async def _hand_in(self, batch: RecordedBatch, group: tuple[BatchRequest, ...]) -> str:
        """Submit a batch; before each retry, check whether the batch exists after all."""
        repeated = False

        async def once() -> str:
            nonlocal repeated
            known = await self._find(batch) if repeated else None
            repeated = True
            return known or await self.endpoint.submit(batch.token, group)

        return await ask_until_answered(once, self.policy, None, self.pace)

    async def _find_orphans(self) -> None:
        """Search for batches that an earlier process submitted without their id."""
        for batch in self.journal.open_intents:
            try:
                batch_id = await self._find(batch)
            except ModelError as error:
                self._unknown.update(batch.custom_ids)
                self._fail(batch.custom_ids, ModelError(str(error)))
                continue
            if batch_id is None:
                self.journal.drop(batch, "it is not among the provider's batches")
            else:
                self.journal.submit(batch, batch_id)
                self._say(f"batch {batch_id}: found again, {batch.size:,} requests")

    async def _find(self, batch: RecordedBatch) -> str | None:
        known = {each.batch_id for each in self.journal.submitted}
        batch_ids = await self.endpoint.find(batch.token, batch.size, batch.time)
        for batch_id in batch_ids:
            if batch_id not in known and (
                self.endpoint.finds_surely or await self._is_ours(batch_id, batch)
            ):
                return batch_id
        return None

    async def _is_ours(self, batch_id: str, batch: RecordedBatch) -> bool:
        """Wait for a batch to end; return whether its results belong to these requests."""
        wait = FIRST_WAIT_S
        while (await self.endpoint.state(batch_id)).phase == "in_progress":
            self._say(f"batch {batch_id} may be ours; its results will show it")
            wait = await self._wait(wait)
        seen: set[str] = set()
        await self.endpoint.results(batch_id, lambda answer: seen.add(answer.custom_id))
        return not seen.isdisjoint(batch.custom_ids)

    # Waiting and reading

    async def _collect(self, batches: Iterable[RecordedBatch]) -> None:
        """Read each batch's results as soon as it has ended."""
        waiting, wait = list(batches), FIRST_WAIT_S
        while waiting:
            states = {batch.token: await self._look_at(batch) for batch in waiting}
            waiting = [b for b in waiting if (s := states[b.token]) and s.phase == "in_progress"]
            if waiting:
                open_states = [state for b in waiting if (state := states[b.token])]
                done = sum(state.done for state in open_states)
                total = sum(state.total for state in open_states)
                more = f", {done:,} of {total:,} requests done" if total else ""
                self._say(f"waiting for {count(len(waiting), 'batch', 'batches')}{more}")
                wait = await self._wait(wait)

    async def _look_at(self, batch: RecordedBatch) -> BatchState | None:
        """Return a batch's state, and read its results if it ended; None on error."""
        if self._stop.is_set():
            raise _Stopped
        batch_id = batch.batch_id or ""
        try:
            state = await self.endpoint.state(batch_id)
            if state.phase == "ended":
                await self._read(batch, state)
        except ModelError as error:
            self._lose(batch, error)
            return None
        if state.phase == "failed":
            kind = TransientError if state.can_help else ModelError
            self._fail(self._open(batch), kind(state.reason))
        return state

    async def _read(self, batch: RecordedBatch, state: BatchState) -> None:
        ours = set(self._open(batch))

        def take(answer: BatchAnswer) -> None:
            if answer.custom_id in ours and answer.custom_id not in self.answers:
                self._take(answer, state)

        silent = TransientError("its batch ended without a result for it")
        bad = await self.endpoint.results(batch.batch_id or "", take)
        if bad:
            lines = count(bad, "line")
            self._say(f"batch {batch.batch_id}: {lines} of its results cannot be read, left out")
        for custom_id in ours:
            if custom_id not in self.answers:
                self._errors.setdefault(custom_id, silent)
        have = sum(custom_id in self.answers for custom_id in ours)
        self._say(f"batch {batch.batch_id} has ended: {have:,} of {len(ours):,} answered")

    def _take(self, answer: BatchAnswer, state: BatchState) -> None:
        error, turn = answer.error, None
        try:
            if answer.data is not None:
                turn = self.endpoint.turn(answer.data, self.asked[answer.custom_id].messages)
            elif isinstance(error, PolicyRefusedError):
                turn, error = error.turn(), None
            if turn is not None:
                named = answer.request_id or turn.request_id
                update = {"latency_s": state.seconds, "request_id": named}
                self.answers.put(answer.custom_id, turn.model_copy(update=update))
        except (TransientError, ModelError) as refusal:
            error = refusal
        if error is not None:
            self._errors[answer.custom_id] = error

    def _lose(self, batch: RecordedBatch, error: ModelError) -> None:
        """Fail the requests of a batch whose outcome is unknown; they are not sent again."""
        gone = ""
        if isinstance(error, RejectedError) and error.status in GONE_STATUSES:
            gone = (
                f"batch {batch.batch_id} cannot be read any more; to ask (and pay) anew, remove "
                "batches.jsonl from the run and resume it: "
            )
        lost = [i for i in self._open(batch) if i not in self.answers]
        self._unknown.update(lost)
        self._fail(lost, ModelError(f"{gone}{error}"))

    def _fail(self, custom_ids: Iterable[str], error: TransientError | ModelError) -> None:
        self._errors |= dict.fromkeys(custom_ids, error)

    def _open(self, batch: RecordedBatch) -> list[str]:
        return [i for i in batch.custom_ids if i in self.asked and i not in self.answers]

    async def _wait(self, seconds: float) -> float:
        """Wait; return the seconds of the next wait. Raises _Stopped."""
        sleeping = asyncio.ensure_future(self.pace.sleep(seconds))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({sleeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sleeping, stopping):
                task.cancel()
            await asyncio.gather(sleeping, stopping, return_exceptions=True)
        if self._stop.is_set():
            raise _Stopped
        return min(seconds * WAIT_GROWTH, LONGEST_WAIT_S)

    def _say(self, line: str) -> None:
        if line != self._told:
            self._told = line
            self.tell(line)
