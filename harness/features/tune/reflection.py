"""Requests to the reflection model, each recorded before it is sent and when it is answered."""

import asyncio
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic_core import to_json

from harness.agent.dialogue import writable_turn
from harness.agent.events import Request, Response, Retried, SampleStart, Unusable
from harness.errors import RunDirectoryError, UsageError
from harness.features.tune.candidate_runs import SearchStoppedError, amount_of, most_of, usual
from harness.models.estimated_usage import unheard_usage
from harness.models.function import FunctionModel
from harness.models.prices.price_lists import ListedPrice
from harness.models.protocol import Message, ModelError, ModelTurn, Retry, Usage
from harness.models.servers import ASKED_FOR
from harness.run.engine.controller import STOPPING, RunController
from harness.run.plan.budget import Total
from harness.run.plan.target import Target, check_references, price_of, resolve_target
from harness.run.settings.spec import RunSpec
from harness.run.store.billed_requests import Spent, requests_of
from harness.run.store.transcript import TranscriptWriter
from harness.run.store.transcripts import FOLDER, Transcripts
from harness.text import printable_line

MODE = "reflection"


class ReflectionModel(NamedTuple):
    """The model that proposes templates.

    Attributes:
        spec: its settings: those of a run, with its name and address.
        target: the resolved model.
        price: its price; None if unknown.
    """

    spec: RunSpec
    target: Target
    price: ListedPrice | None

    @classmethod
    def of(
        cls, spec: RunSpec, model: str | None, base_url: str | None, dry_run: bool = False
    ) -> "ReflectionModel":
        """Resolve the reflection model.

        A model of another name gets its provider's own settings, and one at another address none of
        the headers and keys that are meant for the first.

        Args:
            spec: settings of the runs.
            model: its name; None for that of the runs.
            base_url: its address; None for that of the runs.
            dry_run: whether nothing will be sent, so that no key is needed.

        Raises:
            UsageError: no provider serves it, or its price is unknown and dollars are limited.
        """
        is_other = model is not None and model != spec.model
        elsewhere = base_url not in {None, spec.base_url} or (is_other and spec.base_url is None)
        changed = {
            **({"model": model, **usual(*ASKED_FOR, "price")} if is_other else {}),
            **(usual("api", "api_key_env", "header") if elsewhere else {}),
        }
        spec = spec.model_copy(update={**changed, "base_url": base_url or spec.base_url})
        target = resolve_target(spec, os.environ)
        check_references(target, spec)
        if not isinstance(opened := target.open(dry_run=dry_run), FunctionModel):
            asyncio.run(opened.close())
        else:
            raise UsageError(
                f"model {target.name!r} is a function of a problem and cannot reflect; name a "
                "language model with --reflection-model"
            )
        price = price_of(target, spec)
        if spec.max_cost is not None and price is None:
            raise UsageError(
                f"--max-cost cannot be kept: what {target.name[:100]} costs is unknown; give a "
                "list with --set prices=FILE, or --max-tokens-total instead"
            )
        return cls(spec, target, price)


@dataclass(slots=True)
class Reflection:
    """The requests for new templates, in a folder with a transcript each.

    Attributes:
        model: the reflection model.
        folder: holds the transcripts.
        controller: counts interrupts and shows notices.
        allows: called with the largest spend of a request so far, before one is sent; raises
            SearchStoppedError if the budget does not hold another.
    """

    model: ReflectionModel
    folder: Path
    controller: RunController
    allows: Callable[[Total], None]
    _times: Counter[str] = field(default_factory=Counter[str])

    def ask(self, messages: Sequence[Message]) -> str:
        """Return the answer to a conversation; a recorded one is not asked again.

        Raises:
            SearchStoppedError: the model did not answer, the budget is spent, or the user
                interrupted.
        """
        spec = self.model.spec
        sent = [each.model_dump(mode="json") for each in messages]
        asked = [self.model.target.name, spec.request_settings.model_dump(mode="json"), sent]
        key = hashlib.sha256(to_json(asked)).hexdigest()
        self._times[key] += 1
        name = f"{key[:16]}-{self._times[key] - 1}.jsonl"
        (self.folder / FOLDER).mkdir(parents=True, exist_ok=True)
        with TranscriptWriter(self.folder / FOLDER / name) as journal:
            events = journal.recorded
            turn = next((each.response for each in events if isinstance(each, Response)), None)
            if turn is not None:
                return turn.text
            if self.controller.interrupts:
                raise SearchStoppedError("interrupted")
            self.allows(self._dearest())
            if not any(isinstance(each, SampleStart) for each in events):
                journal(
                    SampleStart(
                        sample=name,
                        problem_id=MODE,
                        index=0,
                        mode=MODE,
                        model=self.model.target.name,
                        settings=spec.request_settings.model_dump(exclude_none=True),
                    )
                )
            journal(Request(turn=1, hash=key, messages=tuple(messages)))
            try:
                turn = asyncio.run(self._turn(messages, journal))
            except ModelError as error:
                if error.usage or error.cut:
                    usage = error.usage or unheard_usage(len(str(sent)), spec.max_tokens)
                    journal(
                        Unusable(
                            turn=1,
                            cause=str(error),
                            usage=usage,
                            estimated=None if error.usage else True,
                        )
                    )
                message = f"the reflection model does not answer: {error}"
                raise SearchStoppedError("pending", printable_line(message)) from error
            except asyncio.CancelledError as error:
                raise SearchStoppedError("interrupted") from error
            journal(Response(turn=1, response=turn))
        return turn.text

    async def _turn(self, messages: Sequence[Message], journal: TranscriptWriter) -> ModelTurn:
        """Ask once; the first interrupt lets the answer come, the second cancels it."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def interrupt() -> None:
            self.controller.interrupts += 1
            if self.controller.interrupts > 1:
                task.cancel()
                return
            self.controller.reporter.notice(
                "interrupted: waiting for the answer of the reflection model, which is kept; "
                "press Ctrl-C again to stop now"
            )

        def retried(retry: Retry) -> None:
            journal(Retried(turn=1, **dict(retry)))

        model = self.model.target.open()
        for word in STOPPING:
            loop.add_signal_handler(word, interrupt)
        try:
            settings = self.model.spec.request_settings
            return writable_turn(await model.generate(tuple(messages), (), settings, retried))
        finally:
            for word in STOPPING:
                loop.remove_signal_handler(word)
            await model.close()

    def spent(self) -> Total:
        """Return what all requests have spent, lost answers included."""
        return spent_on_reflection(self.folder, self.model.price)

    def _dearest(self) -> Total:
        return most_of(
            amount_of([spent.usage or Usage()], self.model.price)
            for spent in _requests(self.folder)
            if not spent.estimated
        )


def spent_on_reflection(folder: Path, price: ListedPrice | None) -> Total:
    """Return what the recorded requests of a folder have spent."""
    return amount_of((each.usage for each in _requests(folder) if each.usage), price)


def _requests(folder: Path) -> list[Spent]:
    requests: list[Spent] = []
    transcripts = Transcripts(folder)
    for name in transcripts.names():
        with suppress(RunDirectoryError):  # a broken transcript is begun again
            requests += requests_of(transcripts.events(name))
    return requests
