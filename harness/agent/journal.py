"""The journal of a sample, which replays recorded answers after an interruption.

A strategy that runs again does the same things in the same order, as long as it gets the same
answers. So the events of an earlier attempt provide its answers: while each event equals the next
recorded one, no request is sent and nothing is written. From the first different event on, the
strategy runs normally and everything is recorded.

A damaged line of a transcript is skipped. If it replaced an event that costs nothing to repeat,
that is repeated; if it replaced an answer, all later events are void.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeVar

from harness.agent import events
from harness.models.faults import ToolsRefusedError
from harness.models.protocol import (
    ContextOverflowError,
    HistoryRefusedError,
    ModelError,
    RecordingEndedError,
    Usage,
)

Refusal = Literal["length", "history", "tools"]
E = TypeVar("E", events.ToolResult, events.Tested, events.RanWrittenTests)

MODEL_STOPPED = "model_stopped"
"""Stop reason of a sample ended by the model; older versions ended it earlier."""

STARTS = {  # everything that affects a sample, by the field of `SampleStart` that records it
    "problem_hash": "the problem",
    "prompt_hash": "the prompt",
    "tools_hash": "the tools",
    "settings": "the model's settings",
    "limits": "the limits",
    "mode": "the mode",
    "model": "the model",
}
REFUSALS: Mapping[type[ModelError], Refusal] = {
    ContextOverflowError: "length",
    HistoryRefusedError: "history",
    ToolsRefusedError: "tools",
}
"""Errors after which a sample goes on, and the words of `Refused` for them."""
BAD_REQUEST = 400


class Journal:
    """Records one sample, replaying an earlier attempt.

    Args:
        write: writes an event to disk.
        recorded: the valid events of an earlier attempt.

    Attributes:
        answers: the answers so far, including recorded ones.
    """

    def __init__(
        self,
        write: Callable[[events.Event], None],
        recorded: Sequence[events.Event] = (),
    ) -> None:
        self._write = write
        self._recorded = recorded
        self._kept = self._turn = 0
        self._retries: tuple[Usage, ...] = ()
        self._failed = Usage()  # of unusable answers, which are billed all the same
        self._live = not recorded
        self.answers: list[events.Response] = []

    def __call__(self, event: events.Event) -> None:
        """Record an event, unless it is already recorded."""
        if not self._live and isinstance(event, events.SampleStart):
            self._begin(event)
            return
        if isinstance(event, events.Response):
            self.answers.append(event)
        elif isinstance(event, events.Retried | events.Unusable):
            self._failed += _billed(event) or Usage()
        if not self._live and self._next(lambda recorded: recorded == event) != event:
            if self._is_lost():
                self._kept += 1
                return
            self._go_live()
        if not self._live:
            self._kept += 1
            return
        self._write(event)

    @property
    def usage(self) -> Usage | None:
        """Tokens of all answers, and of failed ones that are billed; None if one has no count."""
        usages = [each.response.usage for each in self.answers]
        known = [usage for usage in usages if usage is not None]
        return sum(known, self._failed) if len(known) == len(usages) else None

    @property
    def cut_off(self) -> int:
        """Number of answers cut off by the token limit."""
        return sum(each.response.cut_off for each in self.answers)

    @property
    def answer_seconds(self) -> float:
        """Seconds of the answers whose tokens are known."""
        answers = (each.response for each in self.answers)
        return sum(each.latency_s for each in answers if each.usage is not None)

    @property
    def recorded(self) -> Sequence[events.Event]:
        """The valid events of an earlier attempt; none once the attempts differ."""
        return () if self._live else self._recorded

    def start_over(self, cause: str) -> None:
        """Restart the sample: nothing of an earlier attempt can be reused."""
        if not self._live:
            self._go_live(cause)

    def answer(self, request: events.Request) -> events.Response | None:
        """Return the recorded answer to a request; None if it must be sent.

        Raises:
            ModelError: the recorded request was refused, as `refusal_of` says.
            RecordingEndedError: the model ended the recorded sample here.
        """
        if self._live:
            return None
        asked = self._next(lambda event: isinstance(event, events.Request))
        if isinstance(asked, events.SampleEnd) and asked.stop_reason == MODEL_STOPPED:
            raise RecordingEndedError("the model had stopped here", MODEL_STOPPED, asked=False)
        lost = self._is_lost() and _is_of_turn(self._at(self._kept + 1), request.turn)
        if not isinstance(asked, events.Request) and not lost:
            self._go_live()
            return None
        if isinstance(asked, events.Request) and not _is_same(asked, request):
            self._go_live(f"the request of turn {request.turn} is not the one recorded")
            return None
        place = self._kept + 1
        retries: list[Usage] = []
        while isinstance(
            failed := self._at(place), events.Retried | events.Unusable | events.Damaged
        ):
            if not isinstance(failed, events.Damaged) and (usage := _billed(failed)):
                retries.append(usage)
            place += 1
        self._retries = tuple(retries)
        event = self._at(place)
        match event:
            case events.Response() if event.turn == request.turn:
                self._failed = sum(retries, self._failed)
                self._kept, self._turn = place + 1, event.turn
                self.answers.append(event)
                return event
            case events.Refused():
                self._failed = sum(retries, self._failed)
                self._kept, self._turn = place, event.turn
                raise refusal_of(event)
            case _:
                self._go_live()
                return None

    def retries(self) -> tuple[Usage, ...]:
        """Return the usage of billed, unusable answers before the latest recorded answer."""
        return self._retries

    def result(self, call_id: str) -> events.ToolResult | None:
        """Return the recorded result of a tool call; None if it must be executed."""
        return self._repeated(events.ToolResult, lambda each: each.result.call_id == call_id)

    def tested(self, turn: int) -> events.Tested | None:
        """Return the recorded result of a strategy's tests; None if they must be run."""
        return self._repeated(events.Tested, lambda each: each.turn == turn)

    def written_tests(self, turn: int) -> events.RanWrittenTests | None:
        """Return the recorded result of tests that the model wrote; None if they must be run."""
        return self._repeated(events.RanWrittenTests, lambda each: each.turn == turn)

    def _repeated(self, kind: type[E], wanted: Callable[[E], bool]) -> E | None:
        """Return the next recorded event if it is the wanted one; else None."""
        if self._live:
            return None
        event = self._next(lambda each: isinstance(each, kind) and wanted(each))
        if isinstance(event, kind) and wanted(event):
            self._kept += 1
            return event
        if not self._is_lost():
            self._go_live()
        return None

    def _begin(self, start: events.SampleStart) -> None:
        """Compare what affects the sample; a change makes the recorded events void."""
        before = self._next(lambda event: isinstance(event, events.SampleStart))
        if self._is_lost():  # the requests' hashes show whether the sample has changed
            self._kept = 1
            return
        if not isinstance(before, events.SampleStart):
            self._go_live("the transcript has no beginning")
            self._write(start)
            return
        changed = [
            description
            for field, description in STARTS.items()
            if getattr(before, field) != getattr(start, field)
        ]
        if changed:
            self._go_live(f"{' and '.join(changed)} changed")
            self._write(start)
            return
        self._kept += 1

    def _next(self, wanted: Callable[[events.Event], bool]) -> events.Event | None:
        """Return the next recorded event, skipping damaged lines before a wanted one."""
        place = self._kept
        while isinstance(event := self._at(place), events.Damaged):
            place += 1
        if event is not None and wanted(event):
            self._kept = place
        return self._at(self._kept)

    def _is_lost(self) -> bool:
        """Whether the next event is damaged, with readable ones after it."""
        here, after = self._at(self._kept), self._recorded[self._kept :]
        return isinstance(here, events.Damaged) and any(
            not isinstance(each, events.Damaged) for each in after
        )

    def _at(self, place: int) -> events.Event | None:
        return self._recorded[place] if place < len(self._recorded) else None

    def _go_live(self, cause: str = "") -> None:
        """Stop replaying; the remaining recorded events become void."""
        self._live = True
        cause = cause or self._damage()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(events.Resumed(kept=self._kept, turn=self._turn, cause=cause, time=now))

    def _damage(self) -> str:
        """Describe the damaged lines; empty if there are none."""
        damaged = [each for each in self._recorded if isinstance(each, events.Damaged)]
        if not damaged:
            return ""
        void = len(self._recorded) - self._kept
        lines = "line" if len(damaged) == 1 else "lines"
        return (
            f"{lines} {', '.join(str(each.line) for each in damaged[:5])} of its transcript cannot "
            f"be read; {self._kept} of {len(self._recorded)} events are used, {void} are not"
        )


def word_of(error: ModelError) -> Refusal:
    """Return the word of `Refused` for an error of `REFUSALS`."""
    return next(word for kind, word in REFUSALS.items() if isinstance(error, kind))


def refusal_of(event: events.Refused) -> ModelError:
    """Return a recorded refusal as the error that it was."""
    if event.refusal == "tools":
        return ToolsRefusedError(event.cause, status=BAD_REQUEST)
    if event.refusal == "history":
        return HistoryRefusedError(event.cause)
    return ContextOverflowError(event.cause)


def _is_same(recorded: events.Request, request: events.Request) -> bool:
    """Whether two requests are the same; those of older versions have a longer hash."""
    return recorded.turn == request.turn and recorded.hash.startswith(request.hash)


def _is_of_turn(event: events.Event | None, turn: int) -> bool:
    """Whether an event results from a request of that turn."""
    return (
        isinstance(event, events.Response | events.Retried | events.Unusable | events.Refused)
        and event.turn == turn
    )


def _billed(failed: events.Retried | events.Unusable) -> Usage | None:
    """Return the tokens that a provider reported with an unusable answer."""
    estimated = isinstance(failed, events.Unusable) and failed.estimated
    return None if estimated else failed.usage
